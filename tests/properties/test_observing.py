"""Random conversations: what is stored of them, whose word it is, and what never comes back.

Turns are made from templates, and every value in them is said by that turn alone, so that wherever
a value turns up, it is known who said it first and in which mood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incumbent import Memory, Observation, Outcome, Session
from incumbent.model.fact import Fact
from incumbent.model.scope import Scope
from incumbent.model.values import text_of
from incumbent.testing import SteppingClock
from tests.conftest import STORES, examples
from tests.properties.contexts import PROFILES, a_memory, says
from tests.properties.world import ORGANIZATION, all_facts, check_links, check_marks
from tests.stores.invariants import findings

FEW = settings(max_examples=examples(40, soak=400), deadline=None)
FEWER = settings(max_examples=examples(15, soak=200), deadline=None)
_CITIES, _PEOPLE = (
    names.split()
    for names in (
        "Lisbon Oslo Geneva Madrid Vienna Prague Dublin Athens Warsaw Zagreb Tallinn Helsinki "
        "Cardiff Glasgow Bergen Seville Granada Nantes Toulouse Bologna Verona Krakow",
        "Alvarez Brandt Castillo Dimitrov Eriksen Fontaine Gallagher Hoffmann Ivanova Jankowski "
        "Keller Lindqvist Moreau Novak Okafor Petrov Quintero Rasmussen Schneider Takahashi "
        "Ulrich Winkler",
    )
)


class Turn(NamedTuple):
    """Which template a turn is made from, and who says it."""

    mood: str
    template: str
    speaker: str = "user"
    ago: int = 0
    """How many minutes ago it was said, where it comes late."""


MOODS: dict[str, tuple[str, ...]] = {
    "says": (
        "My budget is {money}.",
        "My home city is {city}.",
        "Our manager is Ms {person}.",
        "The discount is {percent}.",
        "The deadline is {date}.",
        "My sister's budget is {money}.",
        "My phone number is {phone}.",
        "The {city} office opens at {time}, so the rent is {money} there.",
        "For this session only, my budget is {money}.",
        "I live in {city}.",
        "The offer of {money} is valid until 31 January.",
        "Per the CEO, the discount is {percent}.",
        "You must submit the report by {date}.",
    ),
    "asks": (
        "I need a table for {count} at {time} in {city}.",
        "Please book a hotel in {city} for {count} people, at most {money} a night.",
        "I want a flight from {city} to Rome on {date}.",
        "Find me a cheap restaurant in {city}.",
        "How about {city}?",
    ),
    "corrects": (
        "No, {money}.",
        "Actually, make it {time}.",
        "Change my budget to {money}.",
        "My budget is now {money}, not what I said.",
        "Sorry, I meant {city}.",
        "No, only {count} people.",
        "In fact the discount was changed to {percent}.",
        "{city} instead, please.",
        "Mr {person} is the new manager.",
        "The deadline moved to {date}.",
        "also for {count} people",
    ),
    "denies": (
        "It's not {was_money} but {money}.",
        "Not {was_city}, {city}.",
        "Make it {was_time} again.",
        "Let's keep {was_city} after all.",
        "The budget is {was_money}, as I said.",
        "{was_date} no longer works, it has to be {date}.",
    ),
    "takes back": (
        "Scratch that.",
        "The deadline is cancelled.",
        "Never mind the discount.",
        "Cancel the hotel.",
    ),
    "goes back": (
        "Go back to the original budget.",
        "Let's go back to what we had before.",
        "Revert to the first one.",
    ),
    "proposes": (
        "Draft: the discount is {percent}.",
        "I propose that we set the budget to {money}.",
        "We could move the deadline to {date}.",
    ),
    "supposes": (
        "What if my budget were {money}?",
        "Suppose the deadline is {date}.",
        "If I had {money}, I would live in {city}.",
        "I wish my home city were {city}.",
        "If the manager changes, reports go to Ms {person}.",
    ),
    "wonders": (
        "Is the budget {money}?",
        "Why would anybody go to {city}?",
        "What is my phone number?",
    ),
    "reports": (
        "> My budget is {money}.",
        "On Monday Ann wrote:\n> We go to {city}.\n\nThanks!",
        "```\nbudget = {money}\ncity = '{city}'\n```",
        "2026-01-05 10:00:00 ERROR budget {money}",
    ),
    "retells": ('He said "the deadline is {date} and that is final".',),
    "pastes": (
        "<p>Price: {money}</p><!-- {city} -->",
        "| budget | {money} |",
        "a,b\n{city},{money}",
    ),
    "settles": ("Yes.", "Sounds good.", "Let's go with that.", "The second one.", "No.", "ok"),
    "concludes": ("So the fee is {money}.", "Based on the budget, the fee is {money}."),
    "chats": (
        "Hello!",
        "Thanks a lot.",
        "",
        " ",
        "😀😀",
        "...",
        "Yes? No. Maybe!",
        "はい、そうです。",
    ),
    "erases": (
        "Please delete my budget from your memory.",
        "Forget what I said about the budget.",
        "Forget everything about {city}.",
        "Please delete that from your memory.",
    ),
    "offers": (
        "Shall I set your budget to {money}?",
        "Which city would you like?",
        "I found two: Hotel {person} in {city} and Hotel {person2} at {money}. Which one?",
        "There is no table at {time}; how about 8:15pm?",
        "Your home city is {city}, right?",
        "Your deadline is {date}.",
    ),
}
_OFFICIAL = ("says", "asks", "corrects", "concludes")
_MOST = 10


def turn_of(*moods: str, speaker: str = "user") -> st.SearchStrategy[Turn]:
    said = [Turn(mood, text, speaker) for mood in moods for text in MOODS[mood]]
    return st.sampled_from(said)


_TEXT = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00{}"), max_size=60
)
untidy = _TEXT.map(lambda text: Turn("untidy", text))
of_assistant = turn_of("offers", "says", "asks", "settles", speaker="assistant")
of_user = turn_of(*(mood for mood in MOODS if mood not in ("erases", "offers")))
late = st.builds(Turn._replace, of_user, ago=st.integers(1, 5))
several = st.lists(of_user, min_size=2, max_size=3).map(
    lambda turns: Turn("several", " ".join(turn.template for turn in turns))
)
undoable = st.one_of(of_user, of_user, several, late, of_assistant)
anything = st.one_of(undoable, undoable, undoable, untidy, turn_of("erases"))
OFFER = Turn("says", "The offer of {money} is valid until 31 January.")
FEE = Turn("concludes", "So the fee is {money}.")
BUDGET = Turn("says", "My budget is {money}.")
DRAFT = Turn("proposes", "Draft: the discount is {percent}.")
conversations = st.lists(anything, min_size=1, max_size=_MOST)
"""Whatever people say, and an assistant between them."""
lasting = st.lists(undoable, min_size=1, max_size=_MOST)
"""The same, but nobody asks for anything to be erased."""


def values_of(number: int) -> dict[str, str]:
    """The values of the turn of that number; no two turns share any that can be told."""
    return {
        "money": f"${3_107 + 411 * number:,}",
        "percent": f"{21 + number}.5%",
        "phone": f"555-01{30 + number}",
        "count": str(2 + number % 7),
        "time": f"{1 + number % 11}:{11 + 2 * number:02}pm",
        "date": f"{5 + number} March 2026",
        "city": _CITIES[number],
        "person": _PEOPLE[number],
        "person2": _PEOPLE[len(_PEOPLE) - 1 - number],
    }


_TELLING = ("money", "percent", "phone", "time", "date", "city", "person", "person2")


def telling_values(turn: Turn, number: int) -> list[str]:
    """The values of a turn that nobody else says and that can be told wherever they turn up."""
    values = values_of(number)
    return [values[name] for name in _TELLING if f"{{{name}}}" in turn.template]


def wording(turn: Turn, number: int) -> str:
    text = turn.template
    for name, value in values_of(number).items():
        text = text.replace(f"{{{name}}}", value)
    for name, value in values_of(max(0, number - 1)).items():
        text = text.replace(f"{{was_{name}}}", value)
    return text


@dataclass
class Talk:
    """A conversation as it was held: every turn with what was made of it."""

    memory: Memory
    session: Session
    clock: SteppingClock
    turns: list[Turn] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)

    def say(self, turn: Turn, *, authority: str | None = None) -> Observation:
        number = len(self.turns)
        text = wording(turn, number)
        now = self.clock.advance(minutes=1)
        found = self.session.observe(
            text,
            speaker=turn.speaker,
            ref=f"t{number}",
            authority=authority,
            at=now - timedelta(minutes=turn.ago) if turn.ago else None,
        )
        self.turns.append(turn)
        self.texts.append(text)
        self.observations.append(found)
        return found

    def say_again(self) -> list[Observation]:
        return [
            self.session.observe(text, speaker=turn.speaker, ref=f"t{number}")
            for number, (turn, text) in enumerate(zip(self.turns, self.texts, strict=True))
        ]


@contextmanager
def a_talk(
    store: str = "memory", turns: Sequence[Turn] = (), authority: str = "manager"
) -> Iterator[Talk]:
    """A conversation with Sam, on a memory of its own."""
    clock = SteppingClock()
    with a_memory(store, clock) as memory:
        session = sam(memory, authority)
        talk = Talk(memory, session, clock)
        for turn in turns:
            talk.say(turn)
        yield talk


def sam(memory: Memory, authority: str = "manager") -> Session:
    return memory.session(
        user_id="sam", authority=authority, organization=ORGANIZATION, session_id="s"
    )


def stored(memory: Memory, organization: str = ORGANIZATION) -> list[Any]:
    """Everything that a store holds of an organization: facts, verdicts, turns, desks."""
    with memory.store.read(organization) as reader:
        desks = [repr(desk) for desk in reader.desks()]
    return [*memory.store.dump(organization), *desks]


def in_office(memory: Memory) -> set[str]:
    return {fact.id for fact in all_facts(memory).values() if fact.is_valid}


def said_in_office(session: Session, value: str) -> bool:
    return any(says(words_of(fact), value) for fact in session.facts())


def words_of(fact: Fact) -> str:
    return " ; ".join([text_of(fact.value), *(part.text for part in fact.parts)])


# what is stored


@pytest.mark.parametrize("store", STORES)
@FEW
@given(turns=conversations)
@example(turns=[OFFER, OFFER])
@example(turns=[FEE, FEE, Turn("concludes", "Based on the fee, the fee is {money}.")])
@example(turns=[BUDGET, Turn("erases", "Forget my budget. Forget my budget.")])
def test_whatever_is_said_leaves_a_sound_store(store: str, turns: list[Turn]) -> None:
    """No turn breaks anything: chains, marks and log are as they must be after each."""
    with a_talk(store) as talk:
        for number, turn in enumerate(turns):
            found = talk.say(turn)
            assert found.turn_index == number + 1
            assert not found.repeated
            check_statements(found, talk.texts[-1])
        facts = all_facts(talk.memory)
        check_marks(facts)
        assert findings(talk.memory, ORGANIZATION) == []
        if not any(found.erasures for found in talk.observations):
            check_links(facts)
        seats = Counter(
            (fact.address, text_of(fact.value)) for fact in facts.values() if fact.is_valid
        )
        assert all(count == 1 for count in seats.values()), "the same is in office twice"


def check_statements(found: Observation, text: str) -> None:
    """Statements are pieces of the turn, in order, and none lies over another."""
    reached = 0
    for statement in found.statements:
        assert reached <= statement.start < statement.end <= len(text)
        assert statement.text == text[statement.start : statement.end]
        reached = statement.end


@FEW
@given(turns=conversations)
def test_what_is_in_office_is_what_the_verdicts_say(turns: list[Turn]) -> None:
    """Whoever follows the verdicts of each turn knows what holds office after it."""
    with a_talk() as talk:
        office: set[str] = set()
        for turn in turns:
            found = talk.say(turn)
            for verdict in found.verdicts:
                office -= {*verdict.superseded, *verdict.repair.stepped_back}
                office |= set(verdict.repair.took_office)
                if verdict.outcome is Outcome.RETRACTED:
                    office.discard(verdict.fact_id)
                elif verdict.took_office:
                    office.add(verdict.fact_id)
            for erasure in found.erasures:
                office -= set(erasure.fact_ids)
            assert office == in_office(talk.memory)
            places = [(Scope.GLOBAL, ""), (Scope.SESSION, "s")]
            facts = talk.session.facts()
            assert {fact.id for fact in facts} <= office
            assert all(fact.place in places for fact in facts)


@pytest.mark.parametrize("store", STORES)
@FEWER
@given(turns=conversations)
def test_the_same_turns_again_change_nothing(store: str, turns: list[Turn]) -> None:
    """Said again under the same refs, everything is known and every byte is as it was."""
    with a_talk(store, turns) as talk:
        before = stored(talk.memory)
        again = talk.say_again()
        assert stored(talk.memory) == before
        for first, second in zip(talk.observations, again, strict=True):
            assert second.repeated
            assert second.turn_index == first.turn_index
            erased = {
                fact_id
                for found in talk.observations
                for erasure in found.erasures
                for fact_id in erasure.fact_ids
            }
            assert [f.id for f in second.facts] == [f.id for f in first.facts if f.id not in erased]


@FEW
@given(turns=lasting)
def test_every_fact_tells_where_it_was_said(turns: list[Turn]) -> None:
    """A fact names its turn, its speaker and its place, and quotes what stands there."""
    with a_talk(turns=turns) as talk:
        facts = all_facts(talk.memory)
        for fact in facts.values():
            source = fact.source
            assert source.turn_index is not None
            at = source.turn_index - 1
            assert source.ref == f"t{at}"
            assert source.speaker == talk.turns[at].speaker
            assert source.span is not None
            assert source.quote == talk.texts[at][slice(*source.span)]
            for part in fact.parts:
                assert text_of(fact.value)[part.start : part.end] == part.text
            for said in source.earlier:
                assert said.ref == f"t{said.turn_index - 1}"
                assert said.turn_index <= source.turn_index
                assert 0 <= said.start < said.end <= len(talk.texts[said.turn_index - 1])


@FEW
@given(turns=lasting)
def test_a_rewritten_statement_names_both_turns(turns: list[Turn]) -> None:
    """What is left of a corrected statement knows who said it and who changed it, and where."""
    with a_talk(turns=turns) as talk:
        facts = all_facts(talk.memory)
        for found in talk.observations:
            for verdict in found.verdicts:
                if "reader" not in verdict.evidence or verdict.outcome is Outcome.CONFIRMED:
                    continue
                fact = facts[verdict.fact_id]
                assert fact.source.turn_index == found.turn_index
                if text_of(fact.value) in talk.texts[found.turn_index - 1]:
                    continue  # said anew as a whole: nothing is left of the other
                for old in map(facts.__getitem__, verdict.targets):
                    assert told_in(fact) >= told_in(old)


def told_in(fact: Fact) -> set[int | None]:
    """The turns that a fact says its words are from."""
    return {fact.source.turn_index, *(said.turn_index for said in fact.source.earlier)}


# what comes back


def can_be_told(text: str) -> bool:
    """Whether a value cannot well be part of anything else."""
    digits = sum(map(str.isdigit, text))
    return digits >= 3 or (digits > 0 and not text.isalnum()) or len(text.strip()) > 4


@FEW
@given(
    turns=conversations,
    budget=st.sampled_from([60, 150, 400, 2_000, 20_000]),
    query=st.sampled_from(["what now?", "What is my budget?", "city and deadline"]),
)
@example(
    turns=[
        Turn("several", "```\nbudget = {money}\n``` My budget is {money}."),
        Turn("denies", "It's not {was_money} but {money}."),
    ],
    budget=2_000,
    query="what now?",
)
def test_what_left_office_is_in_no_context(turns: list[Turn], budget: int, query: str) -> None:
    """A value that a turn retired and that no fact in office says is not read by any model."""
    with a_talk() as talk:
        retired: set[str] = set()
        for turn in turns:
            retired |= {part.text for part in talk.say(turn).retired if can_be_told(part.text)}
        for profile in PROFILES:
            text = talk.session.context(query, budget=budget, profile=profile).text
            for value in retired:
                if says(text, value):
                    assert said_in_office(talk.session, value), f"{value} came back"


@FEW
@given(
    turns=st.lists(
        turn_of(*(m for m in MOODS if m not in ("settles", "denies", "offers"))), max_size=_MOST
    )
)
def test_what_was_only_supposed_is_no_fact(turns: list[Turn]) -> None:
    """What-ifs, questions, drafts and quotations that nobody settles on stay out of the facts.

    What somebody is said to have said is kept as that, and is no value of anything.
    """
    unreal = ("supposes", "wonders", "reports", "proposes")
    with a_talk(turns=turns) as talk:
        for profile in PROFILES:
            context = talk.session.context("what now?", budget=20_000, profile=profile)
            shown = {line.fact_id for line in context.lines if line.fact_id}
            facts = all_facts(talk.memory)
            assert all(facts[i].scope not in (Scope.DRAFT, Scope.HYPOTHETICAL) for i in shown)
            for number, turn in enumerate(talk.turns):
                if turn.mood not in (*unreal, "retells") or "changes" in turn.template:
                    continue
                for value in telling_values(turn, number):
                    for line in context.lines:
                        if line.fact_id is None:
                            continue
                        if turn.mood != "retells" or not facts[line.fact_id].is_unnamed:
                            assert not says(line.text, value), f"{value} became a fact"


@pytest.mark.parametrize("store", STORES)
@FEWER
@given(
    turns=st.lists(undoable, max_size=4),
    tried=st.lists(undoable, min_size=1, max_size=4),
    kind=st.sampled_from(["hypothetical", "draft"]),
)
@example(turns=[BUDGET], tried=[Turn("takes back", "Scratch that.")], kind="draft")
@example(turns=[BUDGET, DRAFT], tried=[Turn("settles", "Sounds good.")], kind="hypothetical")
@example(
    turns=[BUDGET, BUDGET],
    tried=[Turn("goes back", "Go back to the original budget.")],
    kind="hypothetical",
)
def test_a_branch_changes_nothing_real(
    store: str, turns: list[Turn], tried: list[Turn], kind: str
) -> None:
    """What is said in a branch stays there, and nothing is left of it once it is discarded."""
    with a_talk(store, turns) as talk:
        before = [fact.id for fact in talk.session.facts()]
        office = in_office(talk.memory)
        real, branch = talk.session, getattr(talk.session, kind)("try")
        talk.session = branch
        for turn in tried:
            talk.say(turn)
            assert [fact.id for fact in real.facts()] == before
        branch.discard()
        assert in_office(talk.memory) == office
        assert findings(talk.memory, ORGANIZATION) == []


# whose word it is


def declines(turn: Turn) -> bool:
    return turn.mood not in ("settles", "denies", "offers", "erases", "goes back")


@FEW
@given(
    turns=st.lists(st.one_of(of_user.filter(declines), of_assistant, of_assistant), max_size=_MOST)
)
def test_an_assistant_speaks_for_nobody_else(turns: list[Turn]) -> None:
    """What only the assistant has said, and nobody agreed to, is its own word on the lowest rung,
    retires nothing, and is in no fact of anybody else's."""
    with a_talk(turns=turns) as talk:
        known = all_facts(talk.memory)
        for found, turn in zip(talk.observations, turns, strict=True):
            if turn.speaker == "assistant":
                assert all(fact.source.by_machine for fact in found.facts)
                assert all(fact.standing == "guest" for fact in found.facts)
                gone = [known[fact_id] for v in found.verdicts for fact_id in v.superseded]
                assert all(fact.source.by_machine for fact in gone)
        peoples = [fact for fact in known.values() if not fact.source.by_machine]
        for fact in peoples:
            for number, turn in enumerate(turns):
                if turn.speaker == "assistant":
                    for value in telling_values(turn, number):
                        assert not says(words_of(fact), value)


@FEW
@given(turns=st.lists(st.one_of(of_user, turn_of("erases")), min_size=1, max_size=_MOST))
def test_whoever_is_lower_retires_nothing_above_them(turns: list[Turn]) -> None:
    """Whatever a guest says, the facts that executives wrote for all stay in office."""
    clock = SteppingClock()
    with a_memory("memory", clock) as memory:
        chief = memory.session(user_id="cfo", authority="executive", organization=ORGANIZATION)
        for key, value in (("budget", "$900,000"), ("discount", "15%"), ("deadline", "1 May 2026")):
            chief.write(key, value, memory_type="organizational")
        before = {fact.id for fact in chief.facts()}
        talk = Talk(memory, sam(memory, "guest"), clock)
        for turn in turns:
            found = talk.say(turn)
            assert not before & {i for verdict in found.verdicts for i in verdict.superseded}
        assert {fact.id for fact in chief.facts()} == before
        for fact in all_facts(memory).values():
            if fact.source.speaker is not None:
                assert fact.authority == "guest"
                assert not fact.is_constraint


@FEW
@given(
    turns=st.lists(turn_of(*_OFFICIAL), min_size=1, max_size=4),
    others=st.lists(st.one_of(of_user, turn_of("erases")), min_size=1, max_size=4),
)
@example(turns=[BUDGET], others=[Turn("takes back", "Scratch that.")])
@example(turns=[BUDGET, BUDGET], others=[Turn("goes back", "Go back to the original budget.")])
@example(turns=[BUDGET], others=[Turn("erases", "Please delete my budget from your memory.")])
def test_a_guest_in_the_conversation_retires_nothing(turns: list[Turn], others: list[Turn]) -> None:
    """Somebody who speaks in a manager's conversation as a guest changes nothing that stands."""
    with a_talk(turns=turns) as talk:
        before = in_office(talk.memory)
        for turn in others:
            talk.say(turn._replace(speaker="Mallory"), authority="guest")
            assert before <= in_office(talk.memory)


@FEWER
@given(left=conversations, right=conversations)
def test_nothing_crosses_users_or_organizations(left: list[Turn], right: list[Turn]) -> None:
    """Three people who talk at the same time each learn what they would have learned alone."""
    # Three talk by one clock, so that what is late for one would not be as late for another.
    left, right = ([turn._replace(ago=0) for turn in turns] for turns in (left, right))
    people = [("sam", ORGANIZATION), ("kim", ORGANIZATION), ("sam", "globex")]
    alone = [told_to(left), told_to(right), told_to(left)]
    clock = SteppingClock()
    with a_memory("memory", clock) as memory:
        talks = [
            Talk(
                memory,
                memory.session(
                    user_id=user, authority="manager", organization=where, session_id="s"
                ),
                clock,
            )
            for user, where in people
        ]
        for number in range(_MOST):
            for talk, turns in zip(talks, (left, right, left), strict=True):
                if number < len(turns):
                    talk.say(turns[number])
        assert [summary(talk) for talk in talks] == alone


def told_to(turns: Sequence[Turn]) -> list[Any]:
    with a_talk(turns=turns) as talk:
        return summary(talk)


def summary(talk: Talk) -> list[Any]:
    """What a session goes by and what each turn led to, but for ids and times."""
    return [
        sorted(
            (fact.key, fact.subject or "", text_of(fact.value)) for fact in talk.session.facts()
        ),
        [
            [(verdict.outcome, verdict.rule) for verdict in found.verdicts]
            for found in talk.observations
        ],
        [[part.text for part in found.retired] for found in talk.observations],
    ]


# looking back, taking back, moving, doing it again


@pytest.mark.parametrize("store", STORES)
@FEWER
@given(turns=lasting)
def test_the_past_stays_as_it_was(store: str, turns: list[Turn]) -> None:
    """Looked at later, a moment between two turns shows what it showed then."""
    with a_talk(store) as talk:
        seen: list[tuple[datetime, list[str]]] = []
        for turn in turns:
            talk.say(turn)
            now = talk.clock.advance(minutes=1)
            seen.append((now, [fact.id for fact in talk.session.facts()]))
        for moment, facts in seen:
            then = talk.session.as_of(moment, known_at=moment)
            assert [fact.id for fact in then.facts()] == facts


@pytest.mark.parametrize("store", STORES)
@FEWER
@given(turns=lasting)
def test_every_verdict_of_a_turn_can_be_undone(store: str, turns: list[Turn]) -> None:
    """With all its verdicts undone, from the last to the first, a turn has changed nothing."""
    with a_talk(store) as talk:
        for turn in turns:
            before = in_office(talk.memory)
            found = talk.say(turn)
            after = in_office(talk.memory)
            undoings = [talk.session.undo(verdict) for verdict in reversed(found.verdicts)]
            assert in_office(talk.memory) == before
            for undoing in reversed(undoings):
                talk.session.undo(undoing)
            assert in_office(talk.memory) == after
        assert findings(talk.memory, ORGANIZATION) == []


@pytest.mark.parametrize("store", STORES)
@FEWER
@given(turns=conversations)
def test_an_export_keeps_values_and_provenance(store: str, turns: list[Turn]) -> None:
    """Moved to another memory, facts keep their parts, their turns and their contexts."""
    with a_talk(store, turns) as talk:
        before = all_facts(talk.memory)
        records = list(talk.memory.export(ORGANIZATION))
        with a_memory("memory", talk.clock) as other:
            other.import_(records)
            after = all_facts(other)
            assert after == before
            assert list(other.export(ORGANIZATION)) == records


@pytest.mark.parametrize("profile", PROFILES)
@FEWER
@given(turns=conversations)
def test_the_same_turns_give_the_same_context(profile: str, turns: list[Turn]) -> None:
    """On every store, at the same times, the same words lead to the same facts and bytes."""
    told = []
    for store in (*STORES, "memory"):
        with a_talk(store, turns) as talk:
            context = talk.session.context("budget and city", budget=1_000, profile=profile)
            told.append((summary(talk), context.text))
    assert told[0] == told[1] == told[2]
