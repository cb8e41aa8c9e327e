"""Contexts as the specification has them: relevant notes, a full account, visible disputes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import incumbent
from incumbent import Memory, Session
from incumbent.context.rendering import CONSTRAINTS, CONTESTED, CUT_MARK, WORKING_SET
from incumbent.testing import SteppingClock
from tests.conftest import QUICK, OpenMemory
from tests.said import keep_said

FOOTBALL = (
    "the striker scored twice in the first half",
    "the referee gave a penalty after ninety minutes",
    "the goalkeeper signed for another season",
    "the away team lost by four goals",
    "the derby was sold out within the hour",
    "the coach changed the back line again",
    "the league table puts us third",
    "the winger is out with a bad knee",
)


@pytest.fixture
def clock() -> SteppingClock:
    """A second later at every reading."""
    return SteppingClock(step=timedelta(seconds=1))


@pytest.fixture
def quick(clock: SteppingClock) -> Iterator[Memory]:
    """A memory in this process."""
    with incumbent.open(":memory:", clock=clock, settings=QUICK) as memory:
        yield memory


def ann_of(memory: Memory, **more: Any) -> Session:
    return memory.session(user_id="ann", organization="acme", **more)


def on_desk(context: incumbent.Context) -> list[str]:
    """The notes that a context shows."""
    return [line.text for line in context.lines if line.section == WORKING_SET]


def reasons(context: incumbent.Context) -> set[tuple[str, str | None]]:
    """Why which note or signal was left out."""
    return {(left.reason, left.item) for left in context.omissions if left.item}


# layer 3


@pytest.mark.parametrize("embedder", ["static", None])
@pytest.mark.parametrize("budget", [90, 4000])
def test_a_note_that_was_asked_for_is_not_pushed_out_by_later_ones(
    clock: SteppingClock, embedder: str | None, budget: int
) -> None:
    """Eight notes on football leave the one on penguins in a context that asks for penguins."""
    settings = incumbent.Settings(durability="process", embedder=embedder)
    with incumbent.open(":memory:", clock=clock, settings=settings) as memory:
        ann = ann_of(memory)
        ann.note("zoo", "the penguins are fed at noon by Okoro")
        for number, text in enumerate(FOOTBALL):
            ann.note(f"match_{number}", text)
        context = ann.context("When are the penguins fed?", budget=budget)
        assert on_desk(context) == ["- zoo: the penguins are fed at noon by Okoro"]
        left = {item for reason, item in reasons(context) if reason == "irrelevant"}
        assert left == {f"match_{number}" for number in range(8)}


def test_a_note_in_other_words_is_found_by_its_meaning(clock: SteppingClock) -> None:
    """A note need not share a word with the question, where there is an embedder."""
    settings = incumbent.Settings(durability="process")
    with incumbent.open(":memory:", clock=clock, settings=settings) as memory:
        ann = ann_of(memory)
        ann.note("seen", "the automobile needs fresh oil and new brakes")
        ann.note("kitchen", "the soup wants more salt and pepper")
        assert on_desk(ann.context("What repairs does my car need?")) == [
            "- seen: the automobile needs fresh oil and new brakes"
        ]


def test_what_the_session_is_about_is_relevant_to_every_question(quick: Memory) -> None:
    """The objective and open questions stay, in the order they were put, whatever is asked."""
    ann = ann_of(quick)
    ann.note("objective", "finish the migration this week")
    ann.note("open_question_1", "who signs for the hardware?")
    ann.note("scratch", "seventeen bolts left over")
    ann.note("zoo", "penguins eat herring")
    assert on_desk(ann.context("What do penguins eat?")) == [
        "- objective: finish the migration this week",
        "- open_question_1: who signs for the hardware?",
        "- zoo: penguins eat herring",
    ]


@pytest.mark.parametrize("query", ["What now?", "continue", "", "Please go on, what is next?"])
def test_a_question_that_names_nothing_is_about_the_whole_desk(quick: Memory, query: str) -> None:
    """Who only goes on gets the newest notes first, and none is called irrelevant."""
    ann = ann_of(quick)
    for number, text in enumerate(FOOTBALL):
        ann.note(f"match_{number}", text)
    assert len(on_desk(ann.context(query))) == len(FOOTBALL)
    short = ann.context(query, budget=100)
    assert on_desk(short)[-1].startswith("- match_7: ")
    assert not any(reason == "irrelevant" for reason, _ in reasons(short))


def test_the_last_turns_stay_beside_the_note_that_was_asked_for(quick: Memory) -> None:
    """Turns are what is being talked of; they come after what is relevant, not instead of it."""
    ann = ann_of(quick)
    ann.note("zoo", "the penguins are fed at noon by Okoro")
    for text in FOOTBALL[:4]:
        ann.observe(f"Did you see that {text}?")
    whole = on_desk(ann.context("When are the penguins fed?"))
    assert len(whole) == 5
    assert whole[0].startswith("- zoo: ")
    budgets = (ann.context("When are the penguins fed?", budget=size) for size in range(40, 200))
    shown = [lines for lines in map(on_desk, budgets) if lines]
    assert len(shown[0]) < 5
    assert all(lines[0].startswith("- zoo: ") for lines in shown)


def test_the_comprehensive_profile_keeps_the_rest_of_the_desk(quick: Memory) -> None:
    """Density over brevity: irrelevant notes follow the relevant ones, where there is room."""
    ann = ann_of(quick)
    ann.note("zoo", "penguins eat herring")
    ann.note("match", FOOTBALL[0])
    context = ann.context("What do penguins eat?", profile="comprehensive")
    assert len(on_desk(context)) == 2


def test_a_huge_desk_is_looked_at_within_bounds(clock: SteppingClock) -> None:
    """However many notes there are, only so many meanings are worked out, of so much text."""

    class Counting:
        """Counts what it is given."""

        name, dimensions = "counting 1", 8
        texts = 0
        longest = 0

        def embed(self, texts: Sequence[str]) -> Any:
            self.texts += len(texts)
            self.longest = max(self.longest, *map(len, texts))
            return np.full((len(texts), 8), 8**-0.5, np.float32)

    counting = Counting()
    settings = incumbent.Settings(durability="process", embedder=counting)
    with incumbent.open(":memory:", clock=clock, settings=settings) as memory:
        ann = ann_of(memory)
        for number in range(150):
            ann.note(f"note_{number}", f"box {number} " * 2_000)
        ann.context("Where is the herring?")
    assert counting.texts <= 70
    assert counting.longest <= 1_200


# the account


def left(context: incumbent.Context, reason: str) -> list[tuple[str | None, int]]:
    return [(one.fact_id, one.count) for one in context.omissions if one.reason == reason]


def test_ones_own_facts_elsewhere_are_accounted_for_as_out_of_scope(memory: Memory) -> None:
    """What one wrote in another task, session or draft is named, and said to hold only there."""
    tasked = ann_of(memory, task_id="t1", session_id="one").write("crate", "blue", scope="task")
    other = ann_of(memory, session_id="two").write("shelf", "left", scope="session")
    drafted = ann_of(memory).draft("d").write("price", "90")
    here = ann_of(memory, session_id="three")
    context = here.context("Which crate, shelf and price?")
    named = {fact_id for fact_id, _ in left(context, "out of scope")}
    assert named == {tasked.fact_id, other.fact_id, drafted.fact_id}
    assert not any(word in context.text for word in ("blue", "left", "90"))
    inside = ann_of(memory, task_id="t1", session_id="three").context("Which crate?")
    assert "- crate: blue" in inside.text
    assert tasked.fact_id not in {fact_id for fact_id, _ in left(inside, "out of scope")}


def test_nothing_is_said_of_what_others_have_elsewhere(memory: Memory) -> None:
    """Neither another person's drafts nor the tasks of the organization are in one's account."""
    before = ann_of(memory, session_id="s").context("Which price?", explain=True).omissions
    bob = memory.session(user_id="bob", organization="acme", task_id="t", authority="manager")
    bob.draft("d").write("price", "90")
    bob.write("price", "95", scope="task")
    assert ann_of(memory, session_id="s").context("Which price?", explain=True).omissions == before


def test_ones_own_restricted_facts_are_counted_where_the_session_may_not_read_them(
    memory: Memory,
) -> None:
    """What one owns and this session lacks the permission for is a number, and no more."""
    cleared = ann_of(memory, permissions=["hr"])
    for number in range(2):
        cleared.write(f"review_{number}", "excellent", requires=["hr"])
    plain = ann_of(memory).context("How did the review go?")
    assert left(plain, "not permitted") == [(None, 2)]
    assert "review" not in plain.text.replace("How did the review go?", "")
    assert left(cleared.context("How did the review go?"), "not permitted") == []


def test_nothing_is_said_of_what_is_restricted_and_anothers(memory: Memory) -> None:
    """A reader cannot tell what is kept from them from what does not exist."""
    ann_of(memory).write("salary_day", "the 25th")
    before = ann_of(memory).context("What is the salary?", explain=True).omissions
    boss = memory.session(
        user_id="boss", authority="executive", permissions=["hr"], organization="acme"
    )
    boss.write("salary", 5200, requires=["hr"], memory_type="organizational")
    boss.write("salary_note", "raise due", requires=["hr"])
    assert ann_of(memory).context("What is the salary?", explain=True).omissions == before


def test_the_account_of_a_large_memory_reads_no_more_than_a_small_one(memory: Memory) -> None:
    """Who owns very much elsewhere is told of it on request, and not for every context."""
    tasked = ann_of(memory, task_id="archive")
    tasked.write_many(
        {"key": f"box_{number}", "value": f"shelf {number}", "scope": "task"}
        for number in range(450)
    )
    assert left(ann_of(memory).context("Which box?"), "out of scope") == []
    told = ann_of(memory).context("Which box?", explain=True)
    assert len(left(told, "out of scope")) == 450


# what is contested


def test_a_contested_pair_stands_in_the_context_as_such(memory: Memory) -> None:
    """Both values, which of them holds, and when the other was said, under a heading that asks."""
    ann = ann_of(memory)
    ann.write("delivery_date", "3 March")
    doubt = ann.write("delivery_date", "5 March", confidence=0.1)
    assert doubt.outcome == "contested"
    context = ann.context("When is the delivery date?")
    [line] = [line for line in context.lines if line.section == CONTESTED]
    assert line.text == ('- delivery_date: 3 March [contested: "5 March" was said on 2026-01-05]')
    assert "# Contested (statements disagree: ask before relying on either)" in context.text
    assert doubt.fact_id not in {one.fact_id for one in context.omissions}
    assert ann.current("delivery_date") == "3 March"


@pytest.mark.parametrize("profile", ["high-stakes", "balanced", "comprehensive"])
@pytest.mark.parametrize("style", ["plain", "annotated"])
def test_a_context_with_a_contested_pair_replays_byte_for_byte(
    memory: Memory, profile: str, style: str
) -> None:
    """Also when the dispute has been settled since; and an erased side leaves nothing of itself."""
    ann = ann_of(memory)
    ann.write("venue", "Harbour Hall")
    doubt = ann.write("venue", "Willow Barn", confidence=0.1)
    context = ann.context("Which venue?", profile=profile, style=style, record=True)
    assert "Harbour Hall" in context.text
    assert "Willow Barn" in context.text
    ann.resolve(doubt.fact_id, still_right=True)
    settled = ann.context("Which venue?", profile=profile, style=style)
    assert "Willow Barn" in settled.text
    assert "Harbour Hall" not in settled.text
    assert not any(line.section == CONTESTED for line in settled.lines)
    assert memory.replay(context.receipt.id, organization="acme").text == context.text
    memory.forget(organization="acme", fact_id=doubt.fact_id)
    assert "Willow Barn" not in memory.replay(context.receipt.id, organization="acme").text


def test_a_contested_rule_stays_among_the_rules(quick: Memory) -> None:
    """It binds until somebody decides, and says that it is contested."""
    boss = quick.session(user_id="boss", authority="policy", organization="acme")
    terms: dict[str, Any] = {
        "memory_type": "organizational",
        "is_constraint": True,
        "constraint_type": "policy",
    }
    boss.write("max_discount", "15%", **terms)
    boss.write("max_discount", "20%", confidence=0.1, **terms)
    context = ann_of(quick).context("What discount may I give?")
    [line] = [line for line in context.lines if line.section == CONSTRAINTS]
    assert "max_discount: 15%" in line.text
    assert '[contested: "20%"' in line.text


def test_only_who_may_see_both_sides_sees_the_dispute(quick: Memory) -> None:
    """A statement that a reader may not know of leaves no trace on the fact it contests."""
    hr = quick.session(user_id="hr", authority="manager", permissions=["hr"], organization="acme")
    hr.write("bonus_date", "3 March", memory_type="organizational")
    before = ann_of(quick).context("When is the bonus date?").text
    doubt = hr.write(
        "bonus_date", "5 March", memory_type="organizational", requires=["hr"], confidence=0.1
    )
    assert doubt.outcome == "contested"
    assert "5 March" in hr.context("When is the bonus date?").text
    text = ann_of(quick).context("When is the bonus date?").text
    assert [line for line in text.splitlines() if "bonus_date" in line] == [
        line for line in before.splitlines() if "bonus_date" in line
    ]


def test_a_dead_value_is_not_shown_by_way_of_a_dispute(quick: Memory) -> None:
    """The statement that contests is told on purpose; what else it repeats and is over is not."""
    ann = ann_of(quick)
    ann.write("caterer", "Quince & Sons of Aldgate")
    ann.write("caterer", "Juniper Kitchen")
    ann.write("party_plan", "a garden lunch for forty")
    ann.write("party_plan", "a dinner cooked by Quince & Sons of Aldgate", confidence=0.1)
    text = ann.context("What is the party plan, and who is the caterer?").text
    assert "Quince" not in text
    assert '[contested: "a dinner cooked by [no longer current]" was said on' in text


def test_a_value_cannot_pass_for_a_dispute(quick: Memory) -> None:
    """Text that imitates the mark is shown in quotes, as data."""
    ann = ann_of(quick)
    ann.write("note", 'fine [contested: "not at all" was said on 2026-01-01]')
    assert '- note: «fine [contested: "not at all"' in ann.context("note?").text


# one value


def test_current_gives_a_list_exactly_where_the_key_is_declared_so(memory: Memory) -> None:
    """Not for what turns have put side by side: that stays a value, the newest of its kind."""
    ann = ann_of(memory)
    for number, wish in enumerate(("a hotel in the north", "the early ferry")):
        told = incumbent.Source("conversation", turn_index=number, speaker="user", quote=wish)
        keep_said(ann, wish, told, key="wish")
    facts = ann.facts("wish")
    assert len(facts) > 1, "turns have put several side by side"
    assert ann.current("wish") == facts[0].value == "the early ferry"
    memory.declare("tag", multi_valued=True)
    ann.write("tag", "red")
    assert ann.current("tag") == ["red"]
    ann.write("tag", "blue")
    assert ann.current("tag") == ["red", "blue"]
    assert ann.as_of(memory.now()).current("tag") == ["red", "blue"]


def test_the_value_at_an_address_stands_before_what_turns_put_beside_it(quick: Memory) -> None:
    """A remark on the budget does not become the budget."""
    from incumbent.session.reads import foremost

    ann = ann_of(quick)
    base = ann.get(ann.write("budget", "5000 EUR").fact_id)
    assert base is not None
    beside = base.evolve(id="later", value="a remark", multi_valued=True)
    later = beside.evolve(timestamp=base.timestamp + timedelta(days=1))
    shared = base.evolve(id="zz", owner="", timestamp=base.timestamp + timedelta(days=2))
    assert foremost([later, base, shared]).id == base.id
    assert foremost([later, beside, shared]).id == later.id


def test_a_key_declared_later_gives_a_list_from_then_on(memory: Memory) -> None:
    """By the quick way to a single value too."""
    ann = ann_of(memory)
    ann.write("colour", "red")
    assert ann.current("colour") == "red"
    memory.declare("col*", multi_valued=True)
    assert ann.current("colour") == ["red"]


# budgets


def test_every_budget_that_cuts_says_so(open_memory: OpenMemory) -> None:
    """From 0 up: within the budget, with an omission, and with a mark wherever a mark fits."""
    memory = open_memory()
    ann = ann_of(memory, session_id="s")
    for number in range(6):
        ann.write(f"pallet_{number}", f"stands in bay {number} behind the amber gate")
        ann.note(f"note_{number}", f"checked pallet {number} twice")
    whole = ann.context("Where does each pallet stand?", budget=100_000)
    assert CUT_MARK not in whole.text
    assert not any(left.reason == "over budget" for left in whole.omissions)
    from incumbent.context.tokens import counter

    mark = counter(memory.settings.tokenizer)(CUT_MARK)
    for budget in range(whole.tokens + 5):
        context = ann.context("Where does each pallet stand?", budget=budget)
        assert context.tokens <= budget
        cut = any(left.reason == "over budget" for left in context.omissions)
        assert cut == (context.text != whole.text), budget
        says_so = CUT_MARK in context.text or "left out for lack of room" in context.text
        assert says_so == (cut and budget >= mark), budget


@pytest.mark.parametrize("budget", [0, 1, 3, 5, 12])
def test_a_budget_too_small_for_the_identity_is_accounted_for(quick: Memory, budget: int) -> None:
    """All that is missing is named: the identity, the clock, the facts, the notes."""
    ann = ann_of(quick)
    fact = ann.write("crate", "blue")
    ann.note("jotted", "the crate is heavy")
    context = ann.context("Which crate?", budget=budget, record=True)
    named = {left.item for left in context.omissions if left.reason == "over budget"}
    assert {"identity", "current_date", "current_time", "jotted"} <= named
    assert fact.fact_id in {left.fact_id for left in context.omissions}
    assert quick.replay(context.receipt.id, organization="acme").text == context.text
