"""Lists of facts, branches and turns, and the activity of an organization: nothing that one may not
see, and nothing of it told by a count or a page."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

import pytest

import incumbent
from incumbent import Fact, Listing, Memory, Session, Status
from incumbent.model.folding import folded
from incumbent.model.values import text_of
from incumbent.stores.port import Selection
from incumbent.testing import SteppingClock
from tests.behaviour.people import someone
from tests.behaviour.test_lists import whole

ALL = [status for status in Status if status is not Status.ERASED]


def values(facts: Any) -> list[Any]:
    """The values of facts, in the order given."""
    return [fact.value for fact in facts]


@pytest.mark.on_every_store
class TestFacts:
    """`session.list_facts`."""

    def test_facts_in_office_come_the_last_recorded_first(self, memory: Memory) -> None:
        """One's own and the organization's, by pages of any size."""
        ann = someone(memory, "ann", "manager")
        for value in ("Bern", "Basel"):
            ann.write("city", value)
        ann.write("rule", "quiet", memory_type="organizational")
        ann.write("size", 5)
        someone(memory, "bob").write("city", "Thun")
        for size in (1, 2, 9):
            assert values(whole(ann.list_facts, size)) == [5, "quiet", "Basel"]

    def test_states_are_chosen(self, memory: Memory) -> None:
        """Some of them, or with none named any, but for what was erased."""
        ann = someone(memory, "ann")
        ann.write("city", "Bern")
        ann.write("city", "Basel")
        ann.retract(ann.write("size", 5).fact_id)
        gone = ann.write("secret", "x")
        memory.forget(organization="acme", fact_id=gone.fact_id)
        assert values(ann.list_facts(states=["superseded"])) == ["Bern"]
        assert values(ann.list_facts(states=["superseded", "retracted"])) == [5, "Bern"]
        assert values(whole(ann.list_facts, 1, states=())) == [5, "Basel", "Bern"]

    def test_terms_count(self, memory: Memory, clock: SteppingClock) -> None:
        """A fact is listed under the state that it has now, whatever was last written about it."""
        ann = someone(memory, "ann")
        now = memory.now()
        ann.write("pass", 1, subject="past", valid_until=now + timedelta(hours=1))
        ann.write("pass", 2, subject="soon", valid_from=now + timedelta(hours=2))
        ann.write("tone", "warm")
        ann.write("tone", "cool", valid_from=now + timedelta(hours=2))
        assert values(ann.list_facts()) == ["warm", 1]
        assert values(ann.list_facts(states=["waiting"])) == ["cool", 2]
        assert values(ann.list_facts(states=["expired", "superseded"])) == []
        clock.advance(hours=3)
        assert values(ann.list_facts()) == ["cool", 2]
        assert values(ann.list_facts(states=["expired"])) == [1]
        assert values(ann.list_facts(states=["superseded"])) == ["warm"]
        assert values(ann.list_facts(states=["waiting"])) == []

    def test_a_text_is_found_in_key_subject_and_value(self, memory: Memory) -> None:
        """In any letter case; what only looks like it in the store is not."""
        ann = someone(memory, "ann")
        ann.write("oak_street", 1)
        ann.write("number", 2, subject="Oak")
        ann.write("home", "456 OAK Ave.")
        ann.write("list", ["oak", "elm"])
        ann.write("note", "a\nb")
        ann.write("quote", 'say "Ja"')
        ann.write("town", "ÉVIAN")
        ann.write("sum", "100%")
        assert values(ann.list_facts(text="oak")) == [["oak", "elm"], "456 OAK Ave.", 2, 1]
        assert values(ann.list_facts(text="OAK A")) == ["456 OAK Ave."]
        assert values(ann.list_facts(text="évi")) == ["ÉVIAN"]
        assert values(ann.list_facts(text='"JA"')) == ['say "Ja"']
        assert values(ann.list_facts(text="\nb")) == ["a\nb"]
        assert values(ann.list_facts(text="\\n")) == []
        assert values(ann.list_facts(text="0%")) == ["100%"]
        assert values(ann.list_facts(text="0_")) == []
        assert values(ann.list_facts(text="*")) == []

    def test_facts_are_narrowed(self, memory: Memory) -> None:
        """By key, subject, scope, memory type, authority and time."""
        ann = someone(memory, "ann", "manager", task_id="t1")
        first = ann.write("city", "Bern")
        ann.write("size", 5, subject="ball")
        ann.write("rule", "quiet", memory_type="organizational")
        ann.write("format", "pdf", scope="task")
        last = ann.write("mood", "good", authority="employee")
        assert first.fact is not None
        assert last.fact is not None
        assert values(ann.list_facts(key="city")) == ["Bern"]
        assert values(ann.list_facts(subject="ball")) == [5]
        assert values(ann.list_facts(subject="")) == ["good", "pdf", "quiet", "Bern"]
        assert values(ann.list_facts(scope="task")) == ["pdf"]
        assert values(ann.list_facts(scope="draft")) == []
        assert values(ann.list_facts(memory_type="organizational")) == ["quiet"]
        assert values(ann.list_facts(authority="employee")) == ["good"]
        assert values(ann.list_facts(authority="staff")) == ["good"]
        assert values(ann.list_facts(since=last.fact.recorded_at)) == ["good"]
        assert values(ann.list_facts(until=last.fact.recorded_at, limit=1)) == ["pdf"]

    def test_what_needs_review_is_found(self, memory: Memory, clock: SteppingClock) -> None:
        """Also where a base ran out with nobody saying so."""
        ann = someone(memory, "ann")
        ann.write("price", 10, valid_until=memory.now() + timedelta(hours=1))
        ann.write("rate", 2)
        ann.write("total", 20, depends_on=["price"])
        ann.write("tax", 3, depends_on=["rate"])
        assert values(ann.list_facts(needs_review=True)) == []
        ann.write("rate", 3)
        assert values(ann.list_facts(needs_review=True)) == [3]
        clock.advance(hours=2)
        (tax, total) = ann.list_facts(needs_review=True)
        assert (tax.key, total.key) == ("tax", "total")
        assert total.causes
        assert values(ann.list_facts(needs_review=False)) == [3]

    def test_what_one_may_not_see_is_not_hinted_at(self, memory: Memory) -> None:
        """No line, no further page, no link and nothing derived from it."""
        full = someone(memory, "ann", permissions=["hr"])
        full.write("team", "blue")
        hidden = full.write("salary", 100, requires=["hr"], depends_on=["team"])
        full.write("salary", 120, requires=["hr"])
        blind = someone(memory, "ann")
        page = blind.list_facts(limit=1, states=())
        assert values(page) == ["blue"]
        assert page.next is None
        assert page[0].derived_facts == ()
        for asked in ({"text": "salary"}, {"text": "1"}, {"key": "salary"}, {"needs_review": True}):
            assert blind.list_facts(states=(), **asked) == Listing(())
        assert values(full.list_facts(states=())) == [120, 100, "blue"]
        assert full.list_facts(key="team")[0].derived_facts == (hidden.fact_id,)

    def test_a_policy_in_the_place_of_a_statement_is_no_link(self, memory: Memory) -> None:
        """What took a fact's place is named to those alone who may see it."""
        ann = someone(memory, "ann", permissions=["x"])
        old = ann.write("door", "open")
        ann.write("door", "shut", requires=["x"], supersedes=old.fact_id)
        blind = someone(memory, "ann")
        for fact in blind.list_facts(states=()):
            assert fact.superseded_by is None
            assert fact.predecessors == ()

    def test_a_declaration_hides_a_key(self, memory: Memory) -> None:
        """Also what was written before."""
        ann = someone(memory, "ann")
        ann.write("color", "red")
        ann.write("city", "Bern")
        memory.declare("col*", requires=["design"])
        assert values(ann.list_facts(states=())) == ["Bern"]
        assert values(someone(memory, "ann", permissions=["design"]).list_facts()) == [
            "Bern",
            "red",
        ]

    def test_what_is_hidden_takes_no_room_on_a_page(self, memory: Memory) -> None:
        """A page is full of what may be seen, however much lies in between."""
        ann = someone(memory, "ann", permissions=["hr"])
        for number in range(40):
            ann.write(f"k{number:02}", number, requires=["hr"] if number % 10 else [])
        assert values(whole(someone(memory, "ann").list_facts, 2)) == [30, 20, 10, 0]

    def test_a_cursor_tells_of_no_id_that_somebody_else_chose(self, memory: Memory) -> None:
        """Two people who chose one id each have a list, and neither notices."""
        ann, bob = someone(memory, "ann"), someone(memory, "bob")
        for who in (ann, bob):
            who.write("first", who.identity.user_id, id="mine")
            who.write("second", 2, id="other")
        told = [who.list_facts(limit=1) for who in (ann, bob)]
        assert len({len(page.next or "") for page in told}) == 1
        for who in (ann, bob):
            assert values(whole(who.list_facts, 1)) == [2, who.identity.user_id]

    def test_branches_and_the_past_are_listed_as_they_are(self, memory: Memory) -> None:
        """A draft lists its own facts beside the real ones; a moment of the past what held then."""
        ann = someone(memory, "ann")
        ann.write("city", "Bern")
        before = memory.now()
        ann.write("city", "Basel")
        draft = ann.draft("d1")
        draft.write("city", "Thun")
        assert values(draft.list_facts()) == ["Thun", "Basel"]
        assert values(draft.list_facts(scope="draft")) == ["Thun"]
        assert values(ann.list_facts()) == ["Basel"]
        then = ann.as_of(before, known_at=before)
        assert values(then.list_facts()) == ["Bern"]
        assert values(then.list_facts(text="bas", states=())) == []
        assert values(ann.as_of(before).list_facts()) == ["Bern"]

    def test_nothing_crosses_an_organization(self, memory: Memory) -> None:
        """Nor a cursor."""
        ann = someone(memory, "ann")
        ann.write("city", "Bern")
        ann.write("size", 5)
        cursor = ann.list_facts(limit=1).next
        other = memory.session(user_id="ann", organization="globex")
        assert other.list_facts(states=()) == Listing(())
        assert other.list_facts(states=(), cursor=cursor) == Listing(())


@pytest.mark.on_every_store
class TestBranches:
    """`session.list_branches`."""

    def test_branches_with_facts_in_office_are_listed(self, memory: Memory) -> None:
        """Drafts first, by name, with how many facts they have; not those that were settled."""
        ann = someone(memory, "ann")
        for kind, name, keys in (
            ("hypothetical", "what if", "a"),
            ("draft", "plan", "ab"),
            ("draft", "letter", "a"),
            ("draft", "done", "c"),
            ("hypothetical", "dropped", "a"),
        ):
            branch = getattr(ann, kind)(name)
            for key in keys:
                branch.write(key, name)
            if name == "done":
                branch.commit()
            elif name == "dropped":
                branch.discard()
        someone(memory, "bob").draft("bob's").write("a", 1)
        found = whole(ann.list_branches, 1)
        assert [(line.kind, line.name, line.facts) for line in found] == [
            ("draft", "letter", 1),
            ("draft", "plan", 2),
            ("hypothetical", "what if", 1),
        ]
        plan = ann.draft("plan").list_facts(scope="draft")
        assert found[1].last_at == plan[0].recorded_at
        other = memory.session(user_id="ann", organization="globex")
        assert other.list_branches() == Listing(())

    def test_what_one_may_not_see_makes_no_branch(self, memory: Memory) -> None:
        """Neither a line, nor a number, nor another page."""
        full = someone(memory, "ann", permissions=["hr"])
        full.draft("a secret").write("salary", 1, requires=["hr"])
        mixed = full.draft("mixed")
        mixed.write("salary", 1, requires=["hr"])
        mixed.write("city", "Bern")
        full.draft("z secret").write("salary", 1, requires=["hr"])
        page = someone(memory, "ann").list_branches(limit=1)
        assert [(line.name, line.facts) for line in page] == [("mixed", 1)]
        assert page.next is None
        assert [line.facts for line in whole(full.list_branches, 2)] == [1, 2, 1]

    def test_the_past_has_the_branches_of_then(self, memory: Memory) -> None:
        """Those that had facts in office at that moment."""
        ann = someone(memory, "ann")
        draft = ann.draft("d1")
        draft.write("city", "Bern")
        before = memory.now()
        draft.discard()
        assert ann.list_branches() == Listing(())
        then = ann.as_of(before, known_at=before)
        assert [line.name for line in then.list_branches()] == ["d1"]


@pytest.mark.on_every_store
class TestTurns:
    """`session.list_turns`."""

    def test_turns_come_in_order_with_what_came_of_them(self, memory: Memory) -> None:
        """Their words too while they are on the desk."""
        ann = someone(memory, "ann", session_id="s1")
        said = [
            ann.observe("My desk is 4.", ref="r1"),
            ann.observe("What is for lunch?"),
            ann.observe("My desk is 5."),
        ]
        found = whole(ann.list_turns, 2)
        assert [line.turn_index for line in found] == [1, 2, 3]
        for line, turn in zip(found, said, strict=True):
            assert (line.session_id, line.speaker, line.at) == ("s1", "user", turn.at)
            assert line.ref == turn.ref
            assert line.fact_ids == tuple(fact.id for fact in turn.facts)
            assert line.verdict_ids == tuple(verdict.id for verdict in turn.verdicts)
        assert [line.text for line in found] == [
            "My desk is 4.",
            "What is for lunch?",
            "My desk is 5.",
        ]
        for spot in found[0].spots:
            assert (found[0].text or "")[spot.start : spot.end]
        ann.close()
        again = someone(memory, "ann", session_id="other")
        later = again.list_turns("s1")
        assert [(line.turn_index, line.text, line.spots) for line in later] == [
            (number, None, ()) for number in (1, 2, 3)
        ]
        assert again.list_turns() == Listing(())

    def test_nobody_lists_the_turns_of_others(self, memory: Memory) -> None:
        """Whatever session they name."""
        someone(memory, "ann", session_id="s1").observe("My desk is 4.")
        assert someone(memory, "bob").list_turns("s1") == Listing(())
        assert someone(memory, "bob", session_id="s1").list_turns() == Listing(())
        other = memory.session(user_id="ann", organization="globex", session_id="s1")
        assert other.list_turns() == Listing(())

    def test_what_one_may_not_see_is_not_in_a_turn(self, memory: Memory) -> None:
        """Neither the ids nor the words that told of it."""
        full = someone(memory, "ann", session_id="s1", permissions=["hr"])
        said = full.observe("My desk is 4.")
        full.observe("What is for lunch?")
        (line, _) = full.list_turns()
        assert line.fact_ids == (said.facts[0].id,)
        memory.declare(said.facts[0].key, requires=["hr"])
        assert full.list_turns()[0] == line
        blind = someone(memory, "ann", session_id="s1")
        (hidden, plain) = blind.list_turns()
        assert (hidden.fact_ids, hidden.verdict_ids, hidden.text, hidden.spots) == (
            (),
            (),
            None,
            (),
        )
        assert plain.text == "What is for lunch?"

    def test_a_correction_of_what_one_may_not_see_is_not_told(self, memory: Memory) -> None:
        """A turn that ended a hidden fact shows no verdict on it, and no words."""
        full = someone(memory, "ann", session_id="s1", permissions=["hr"])
        said = full.observe("My desk is 4.")
        full.observe("My desk is 5.")
        memory.declare(said.facts[0].key, requires=["hr"])
        for line in someone(memory, "ann", session_id="s1").list_turns():
            assert (line.fact_ids, line.verdict_ids, line.text) == ((), (), None)

    def test_what_was_forgotten_is_gone_from_turns(self, memory: Memory) -> None:
        """Its id, and the words that stated it."""
        ann = someone(memory, "ann", session_id="s1")
        said = ann.observe("My desk is 4.")
        memory.forget(organization="acme", fact_id=said.facts[0].id)
        for line in ann.list_turns():
            assert said.facts[0].id not in line.fact_ids
            assert "4" not in (line.text or "")

    def test_the_past_has_the_turns_of_then(self, memory: Memory) -> None:
        """What was said later was not said yet."""
        ann = someone(memory, "ann", session_id="s1")
        ann.observe("My desk is 4.")
        before = memory.now()
        ann.observe("My lamp is blue.")
        assert [line.turn_index for line in ann.as_of(before).list_turns()] == [1]


@pytest.mark.on_every_store
class TestActivity:
    """`memory.activity`."""

    def test_verdicts_are_counted_by_day_and_kind(
        self, memory: Memory, clock: SteppingClock
    ) -> None:
        """Every entry of the log once, and within two moments if asked."""
        ann = someone(memory, "ann", "manager")
        ann.write("city", "Bern")
        ann.write("city", "Basel")
        clock.advance(days=1)
        between = memory.now()
        ann.write("size", 5)
        ann.retract("size")
        counted = memory.activity("acme")
        log = list(memory.audit("acme"))
        assert sum(line.count for line in counted.verdicts) == len(log)
        kinds = [(e.recorded_at.date(), e.action, e.outcome, e.rule) for e in log]
        assert [
            (line.day, line.action, line.outcome, line.rule, line.count)
            for line in counted.verdicts
        ] == [(*kind, kinds.count(kind)) for kind in sorted(set(kinds))]
        early = memory.activity("acme", until=between)
        late = memory.activity("acme", since=between)
        assert early.verdicts + late.verdicts == counted.verdicts
        assert (early.facts, late.facts, counted.facts) == (1, 1, 1)
        assert early.at == between
        exact = memory.activity("acme", since=log[1].recorded_at, until=log[2].recorded_at)
        assert sum(line.count for line in exact.verdicts) == 1

    def test_facts_and_reviews_are_counted_whoever_owns_them(self, memory: Memory) -> None:
        """In office at the end; and what waits for a person."""
        for name in ("ann", "bob"):
            who = someone(memory, name)
            who.write("rate", 2)
            who.write("tax", 3, depends_on=["rate"])
            who.write("rate", 3)
            who.write("home", "Bern")
            who.write("talk", "moving?", doubts=["home"])
        found = memory.activity("acme")
        reviews = [r.kind for n in ("ann", "bob") for r in someone(memory, n).reviews()]
        assert found.facts == 8
        assert found.base_changed == reviews.count("base changed") == 2
        assert found.doubted == reviews.count("doubted") == 2
        assert found.contested == reviews.count("contested") == 0

    def test_it_has_no_content_and_nothing_of_another_organization(self, memory: Memory) -> None:
        """Numbers alone."""
        someone(memory, "ann").write("secret key", "secret value")
        told = str(memory.activity("acme"))
        assert "secret" not in told
        assert "ann" not in told
        other = memory.activity("globex")
        assert (other.verdicts, other.facts, other.contested) == ((), 0, 0)


class TestWrongCalls:
    """What makes no sense is refused, and says what would."""

    @pytest.mark.parametrize(
        ("asked", "told"),
        [
            ({"text": 5}, "text must be a string"),
            ({"text": "a\0"}, "NUL"),
            ({"text": "x" * 1001}, "look for part of it"),
            ({"states": "office"}, "states must be a list"),
            ({"states": None}, "states must be a list"),
            ({"states": ["gone"]}, "not one of office, superseded"),
            ({"states": ["erased"]}, "not one of office"),
            ({"states": [5]}, "not one of office"),
            ({"scope": "galaxy"}, "not one of global, task"),
            ({"memory_type": "mine"}, "not one of user"),
            ({"authority": "wizard"}, "no rung of the ladder"),
            ({"authority": 5}, "no rung of the ladder"),
            ({"needs_review": "yes"}, "needs_review must be"),
            ({"key": " "}, "key is empty"),
            ({"key": 5}, "key"),
            ({"subject": 5}, "subject"),
            ({"since": "yesterday"}, "since"),
            ({"limit": 0}, "limit must be from 1 to 1,000"),
            ({"cursor": "abc"}, "leave it out to begin"),
        ],
    )
    def test_conditions_on_facts_make_sense(
        self, alice: Session, asked: dict[str, Any], told: str
    ) -> None:
        """A wrong one is named."""
        with pytest.raises(incumbent.InvalidInput, match=told):
            alice.list_facts(**asked)

    @pytest.mark.parametrize(
        "cursor", ["", "abc", 5, "WyJicmFuY2giLCJ0YXNrIiwiYSJd", "WyJ0dXJuIl0"]
    )
    @pytest.mark.parametrize("name", ["list_branches", "list_turns"])
    def test_a_cursor_is_one_that_was_given(self, alice: Session, name: str, cursor: Any) -> None:
        """Anything else is refused."""
        with pytest.raises(incumbent.InvalidInput, match="leave it out to begin"):
            getattr(alice, name)(cursor=cursor)

    def test_a_session_has_a_name(self, alice: Session, memory: Memory) -> None:
        """And a stretch of time has moments."""
        with pytest.raises(incumbent.InvalidInput, match="session_id"):
            alice.list_turns("")
        with pytest.raises(incumbent.InvalidInput, match="until"):
            memory.activity("acme", until=datetime(2026, 1, 1))  # noqa: DTZ001
        with pytest.raises(incumbent.InvalidInput, match="organization"):
            memory.activity("")


@pytest.mark.on_every_store
@pytest.mark.parametrize("seed", range(4))
def test_lists_of_facts_say_what_a_plain_filter_says(
    memory: Memory, clock: SteppingClock, seed: int
) -> None:
    """Whatever was written, retracted, hidden and tried out: all facts that a person may see, told
    apart one by one in plain Python, are the lines of the list, by any size of page."""
    chance = random.Random(seed)
    memory.declare("k5", requires=["x"])
    people = {
        (name, permission): someone(
            memory, name, "manager", task_id="t", permissions=[permission] if permission else []
        )
        for name in ("ann", "bob")
        for permission in ("", "x")
    }
    _live_through(chance, memory, people)
    clock.advance(hours=1)  # what has a short term is over, before two looks at it
    for who in people.values():
        with who._reading() as (reader, lens):
            every = [lens.seen(reader, fact) for fact in lens.everything(reader)]
        every.sort(key=lambda fact: (fact.recorded_at, fact.id), reverse=True)
        for _ in range(12):
            asked = _question(chance, every)
            found = whole(who.list_facts, chance.randrange(1, 7), **asked)
            assert [fact.id for fact in found] == [f.id for f in every if _passes(f, **asked)]
            assert {f.owner for f in found} <= {who.identity.user_id, ""}
        with who._reading() as (reader, lens):
            live = [f for f in reader.live(Selection()) if f.held_at(lens.when)]
            plain = [f for f in live if lens.sees(reader, f)]
        drafts = sorted({f.scope_id for f in plain if f.scope == "draft" and f.scope_id})
        assert [line.name for line in whole(who.list_branches, 1)] == drafts


def _live_through(
    chance: random.Random, memory: Memory, people: dict[tuple[str, str], Session]
) -> None:
    for _ in range(90):
        (_, permission), who = chance.choice(list(people.items()))
        if chance.random() < 0.15 and (held := who.facts()):
            who.retract(chance.choice(held).id)
            continue
        at = chance.choice([who, who, who, who.draft(chance.choice("dqz"))])
        given: dict[str, Any] = {"subject": chance.choice([None, "Ball", "été"])}
        if permission and chance.random() < 0.5:
            given["requires"] = ["x"]
        if chance.random() < 0.2:
            given["scope" if at is who else "subject"] = "task"
        if chance.random() < 0.2 and (held := who.facts()):
            given["depends_on"] = [chance.choice(held).id]
        if chance.random() < 0.2:
            given["valid_until"] = memory.now() + timedelta(seconds=chance.choice([9, 99, 10**6]))
        elif chance.random() < 0.1:
            given["valid_from"] = memory.now() + timedelta(days=1)
        given["memory_type"] = chance.choice(["user", "user", "organizational"])
        given["authority"] = chance.choice(["manager", "employee"])
        value = chance.choice([1, "Red", "RED \U0001f600", ["a", "É"], {"n": None}, 'q"q'])
        try:
            at.write(f"k{chance.randrange(6)}", value, **given)
        except (incumbent.NotPermitted, incumbent.DependencyCycle):
            continue


def _question(chance: random.Random, every: list[Fact]) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "states": chance.choice([("office",), (), chance.sample(ALL, 2), ["expired"], ["waiting"]])
    }
    options: dict[str, list[Any]] = {
        "text": ["", "red", "é", "K1", '"', "all", "\U0001f600", "1"],
        "key": ["k1", "k5"],
        "subject": ["", "Ball", "été"],
        "scope": ["global", "task", "draft"],
        "memory_type": ["user", "organizational"],
        "authority": ["manager", "employee"],
        "needs_review": [True, False],
        "since": [fact.recorded_at for fact in every[:9]],
        "until": [fact.recorded_at for fact in every[:9]],
    }
    for name in chance.sample(sorted(options), chance.randrange(4)):
        if options[name]:
            asked[name] = chance.choice(options[name])
    return asked


def _passes(fact: Fact, states: Any, text: str = "", **asked: Any) -> bool:
    if states and fact.status not in states:
        return False
    if "since" in asked and fact.recorded_at < asked["since"]:
        return False
    if "until" in asked and fact.recorded_at >= asked["until"]:
        return False
    if "subject" in asked and asked["subject"] != (fact.subject or ""):
        return False
    plain = ("key", "scope", "memory_type", "authority", "needs_review")
    if any(getattr(fact, name) != asked[name] for name in plain if name in asked):
        return False
    said = (fact.key, fact.subject or "", text_of(fact.value))
    return any(folded(text) in folded(one) for one in said)
