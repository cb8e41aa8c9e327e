"""The specification's own words: its test vectors, its anti-patterns, its examples of detection."""

from __future__ import annotations

from incumbent_eval.conformance.checks import ADA, PAUL, Trial, check
from incumbent_eval.systems import Ability, Who

VECTORS = "test vectors"
ANTI_PATTERNS = "anti-patterns"
DETECTION = "detection"

CARLA = Who(user="carla", authority="CFO")
_DISPUTED = ("contest", "disput", "disagree", "conflict", "contradict", "unsettled", "not settled")
"""Ways to say that two statements disagree, in lower case."""
IAN = Who(user="ian", authority="intern")


@check(VECTORS, Ability.WRITE, Ability.SUPERSEDE)
def a_cancelled_status_replaces_an_approved_one(trial: Trial) -> None:
    """Vector 1: the context contains "cancelled" and not "approved"."""
    first = trial.write("status_v1", "approved")
    trial.write("status_v2", "cancelled", supersedes=first)
    trial.expect("What is the current status?", says=["cancelled"], lacks=["approved"])


@check(VECTORS, Ability.WRITE, Ability.SUPERSEDE)
def three_mentions_do_not_outweigh_one_cancellation(trial: Trial) -> None:
    """Vector 2: how often something was mentioned does not affect supersession."""
    mentions = [trial.write("order_v1", "approved") for _ in range(3)]
    trial.write("order_v2", "cancelled", supersedes=mentions[0])
    query = "Should we proceed with the order?"
    trial.expect(query, says=["cancelled"], lacks=["approved"])


@check(VECTORS, Ability.WRITE, Ability.SUPERSEDE, Ability.OBSERVE)
def three_mentions_in_conversation_do_not_outweigh_one_cancellation(trial: Trial) -> None:
    """Vector 2, where the mentions are turns: none of them brings the old value back."""
    first = trial.write("order_v1", "approved")
    for _ in range(3):
        trial.observe("The order is approved.", speaker="assistant")
    trial.write("order_v2", "cancelled", supersedes=first)
    query = "Should we proceed with the order?"
    trial.expect(query, says=["cancelled"], lacks=["approved"])


@check(VECTORS, Ability.WRITE, Ability.OBSERVE, Ability.AUTHORITY)
def an_intern_does_not_move_the_policy_of_a_cfo(trial: Trial) -> None:
    """Vector 3: the context includes the policy, which the suggestion has not superseded."""
    trial.write("policy", "max 15%", CARLA, is_constraint=True)
    trial.observe("Let's offer 25%", IAN)
    for who in (IAN, CARLA):
        trial.expect("Can we offer 25%?", says=["max 15%"], who=who)


@check(VECTORS, Ability.OBSERVE)
def a_cancellation_that_a_person_speaks_replaces_the_approval(trial: Trial) -> None:
    """Vector 1, said by a person in plain words: "cancelled", and not "approved"."""
    trial.observe("The status of the shipment is approved.")
    trial.observe("The status of the shipment is cancelled.")
    query = "What is the current status of the shipment?"
    trial.expect(query, says=["cancelled"], lacks=["approved"])


@check(VECTORS, Ability.OBSERVE)
def three_spoken_approvals_do_not_outweigh_one_spoken_cancellation(trial: Trial) -> None:
    """Vector 2, said by a person in plain words: however often, one later word is enough."""
    trial.observe("The order is approved.")
    trial.observe("As I said, the order is approved.")
    trial.observe("Yes, the order is approved.")
    trial.observe("The order is cancelled.")
    query = "Should we proceed with the order?"
    trial.expect(query, says=["cancelled"], lacks=["approved"])


@check(VECTORS, Ability.OBSERVE, Ability.AUTHORITY)
def a_spoken_suggestion_does_not_move_a_spoken_policy(trial: Trial) -> None:
    """Vector 3, said by two people, the policy before the suggestion."""
    trial.observe("Our discount policy is max 15%.", CARLA)
    trial.observe("Let's offer 25%", IAN)
    for who in (IAN, CARLA):
        trial.expect("Can we offer 25%?", says=["max 15%"], who=who)


@check(VECTORS, Ability.OBSERVE, Ability.AUTHORITY)
def a_spoken_policy_reaches_who_has_suggested_otherwise(trial: Trial) -> None:
    """Vector 3, said by two people, the policy after the suggestion."""
    trial.observe("Let's offer 25%", IAN)
    trial.observe("Our discount policy is max 15%.", CARLA)
    for who in (IAN, CARLA):
        trial.expect("Can we offer 25%?", says=["max 15%"], who=who)


@check(ANTI_PATTERNS, Ability.WRITE)
def superseded_facts_are_not_included(trial: Trial) -> None:
    """Anti-pattern 1: of all values ever written, only the valid ones are shown."""
    for value in ("crimson", "turquoise", "magenta"):
        trial.write("logo colour", value)
    trial.write("logo shape", "hexagon")
    trial.expect(
        "What does the logo look like?",
        says=["magenta", "hexagon"],
        lacks=["crimson", "turquoise"],
    )


@check(ANTI_PATTERNS, Ability.WRITE, Ability.SUPERSEDE, Ability.OBSERVE)
def the_latest_mention_is_not_the_current_value(trial: Trial) -> None:
    """Anti-pattern 2: a later mention of a superseded value does not make it current."""
    old = trial.write("address_v1", "123 Main St")
    trial.write("address_v2", "456 Oak Ave", supersedes=old)
    trial.observe("The parcel of last year went to 123 Main St.", speaker="assistant")
    trial.expect("Where do we ship to?", says=["456 Oak Ave"], lacks=["123 Main St"])


@check(ANTI_PATTERNS, Ability.WRITE, Ability.AUTHORITY)
def not_everybody_sets_every_fact(trial: Trial) -> None:
    """Anti-pattern 3: a policy is not changed from below."""
    trial.write("discount_policy", "max 15%", PAUL, is_constraint=True)
    trial.attempt(lambda: trial.write("discount_policy", "max 50%", ADA))
    trial.expect("What discount may we give?", says=["max 15%"], lacks=["50%"])


@check(DETECTION, Ability.OBSERVE)
def an_explicit_change_is_found(trial: Trial) -> None:
    """The first rule's example: who has moved has a new address, and the old one is gone."""
    trial.observe("My address is 123 Main St")
    trial.observe("I moved to 456 Oak Ave")
    trial.expect("What is my address?", says=["456 Oak Ave"], lacks=["123 Main St"])


@check(DETECTION, Ability.OBSERVE)
def an_implicit_change_is_found(trial: Trial) -> None:
    """The second rule's example: one meeting cannot be at two times."""
    trial.observe("Meeting is Tuesday at 2pm")
    trial.observe("Let's do the meeting Thursday at 3pm")
    query = "When is the meeting?"
    trial.expect(query, says=["Thursday", "3pm"], lacks=["Tuesday", "2pm"])


@check(DETECTION, Ability.OBSERVE, Ability.AUTHORITY)
def a_policy_in_conversation_prevails_over_an_employee(trial: Trial) -> None:
    """The third rule's example: the policy is what holds for the employee who said otherwise."""
    trial.observe("We can offer 25% discount", ADA)
    trial.observe("Max discount is 15%", PAUL)
    trial.expect("What is the discount?", says=["15%"], who=ADA)


@check(DETECTION, Ability.OBSERVE)
def a_newer_reading_is_found(trial: Trial) -> None:
    """The fourth rule's example: the stock price of today, and not that of two weeks ago."""
    trial.observe("Stock price is $100")
    trial.wait(days=14)
    trial.observe("Stock price is $95")
    trial.expect("What is the stock price?", says=["$95"], lacks=["$100"])


@check(DETECTION, Ability.WRITE, Ability.DOUBT)
def a_weak_statement_is_shown_as_a_dispute(trial: Trial) -> None:
    """When the evidence is weak the pair is contested: both are shown, neither as settled."""
    trial.write("delivery day", "Wednesday")
    trial.write("delivery day", "Saturday", is_doubtful=True)
    text = trial.expect("What is the delivery day?", says=["Wednesday", "Saturday"])
    trial.expect_word(text, _DISPUTED, "it does not say that the two disagree")


@check(DETECTION, Ability.OBSERVE)
def what_still_stands_is_not_retired(trial: Trial) -> None:
    """Retiring a fact that still stands is as bad as keeping one that does not."""
    trial.observe("My address is 123 Main St.")
    trial.observe("My phone number is 555-0199.")
    trial.observe("My sister's address is 78 Elm Rd.")
    query = "What are my address and my phone number?"
    trial.expect(query, says=["123 Main St", "555-0199"])


@check(DETECTION, Ability.OBSERVE)
def a_retraction_in_conversation_leaves_nothing(trial: Trial) -> None:
    """A value can go with no new one in its place."""
    trial.observe("My parking spot is B17.")
    trial.observe("My locker is K42.")
    trial.observe("I no longer have a parking spot.")
    trial.expect("Where do I park?", says=["K42"], lacks=["B17"])
