"""The revision: a model's reading of a sitting takes the place of the offline one.

In one transaction, what the offline reading of the turns filed is undone, last first, and the new
readings are filed like any others, at the times of the turns. Every verdict of it names the model
and the revision. Nothing is erased, and each verdict can be undone.

A turn is left as it is where somebody has built on what it brought: a later turn, a write, an undo.
What a model makes of the same as the offline reader is not filed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from incumbent.engine.registrar import Registrar
from incumbent.engine.undo import undo
from incumbent.model.fact import UNNAMED, Source, Status
from incumbent.model.ids import new_id
from incumbent.model.records import Turn, item_key
from incumbent.model.verdict import Action, Verdict
from incumbent.reading.asked.answer import Answered, Entry
from incumbent.reading.asked.asking import Trouble
from incumbent.reading.asked.readings import ReadTurn, Understood, understood
from incumbent.reading.form import READ, Known, Reading
from incumbent.rules.classification import classify_constraint
from incumbent.turns.circumstances import Circumstances
from incumbent.turns.filing import Filing
from incumbent.turns.observation import Record
from incumbent.turns.observer import WINDOW
from incumbent.turns.opinions import Proposed
from incumbent.turns.passages import follow_desk
from incumbent.turns.rereading.agreeing import agrees
from incumbent.turns.rereading.sitting import Sitting
from incumbent.turns.rereading.waiting import Conversation, Waiting, stored_turn
from incumbent.turns.situation import FoundBySearch, Situation, known_to, looked_at
from incumbent.turns.spots import own_spots

CHANGED: Final = "what the turn brought has changed since; the offline reading stands"
_SEVERAL: Final = 2
"""An answer of which so many entries are bad, and most, is not put into effect."""
_NOWHERE: Final = Situation(0, (), {}, {}, {}, {})
_SAID: Final = Source(type="conversation")


@dataclass
class Account:
    """What became of the entries of one turn."""

    proposals: list[Proposed] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)


class Revision:
    """Files the readings of one answer, inside one transaction."""

    def __init__(
        self,
        registrar: Registrar,
        conversation: Conversation,
        sitting: Sitting,
        turns: Iterable[Waiting],
        evidence: Mapping[str, str],
    ) -> None:
        self._registrar = registrar
        self._conversation = conversation
        self._sitting = sitting
        self._turns = {one.turn.turn_index: one for one in turns}
        self._evidence = {**evidence, "revision": new_id(registrar.now)}
        self._stored: dict[int, Turn] = {}
        self._verdicts: dict[int, list[Verdict]] = {}
        """What the offline reading of each turn led to."""
        for index, one in self._turns.items():
            turn = stored_turn(registrar.transaction, one)
            if turn is not None:
                self._stored[index] = turn
                found = registrar.transaction.verdicts_by_id(turn.verdict_ids)
                self._verdicts[index] = found
        self._became: dict[str, str] = {}
        """Facts that this revision replaced, and by which."""
        self._astray = 0
        self._expected: set[str] = set()
        """Sentences that may become facts, before anything is filed."""
        self.is_of_use = True
        """Whether most of the answer could be believed."""
        self.accounts = {index: Account() for index in self._stored}

    def apply(self, answered: Answered) -> None:
        """Put an answer into effect, turn by turn, as far as that does no harm."""
        entries = self._by_turn(answered)
        self._expected = {one.sentence for some in entries.values() for one in some}
        read = {index: self._understood(index, entries[index]) for index in self._stored}
        self._expected = set()
        bad = self._astray + sum(
            len({id(entry) for entry, _ in made.refused}) for made in read.values()
        )
        self.is_of_use = bad * 2 <= len(answered.entries) + len(answered.unreadable)
        if not self.is_of_use and bad >= _SEVERAL:
            raise Trouble("unfit", "most of the answer could not be believed")
        agreed = {
            index
            for index, made in read.items()
            if agrees(
                made.reading,
                self._turns[index].reading,
                self._verdicts[index],
                self._registrar.transaction,
                index,
            )
        }
        chosen = self._untouched(agreed)
        for index in sorted(chosen, reverse=True):
            self._take_back(index)
        for index in sorted(self._stored):
            if index in chosen:
                self._file(index, entries[index])
            elif index in agreed:
                self._account(index, read[index], "agreed")
            elif entries[index] or self._verdicts[index]:
                dropped = Proposed(index, "", None, "", "dropped", CHANGED)
                self.accounts[index].proposals.append(dropped)

    def _by_turn(self, answered: Answered) -> dict[int, list[Entry]]:
        """The entries of each turn. What cannot be read, or is of no turn, is told with the
        last."""
        found: dict[int, list[Entry]] = {index: [] for index in self._stored}
        astray = list(answered.unreadable)
        for entry in answered.entries:
            place = self._sitting.sentences.get(entry.sentence)
            if place is None:
                astray.append(f"{entry.sentence!r:.20} was not to be read")
            elif place[0] in found:
                found[place[0]].append(entry)
        self._astray = len(astray)
        if self._stored:
            last = self.accounts[max(self._stored)]
            last.proposals += [Proposed(0, "", None, "", "dropped", why) for why in astray]
        return found

    # what may be taken back

    def _untouched(self, agreed: set[int]) -> set[int]:
        """The turns on whose facts nobody else has built. An agreed turn that built on one that
        goes is filed again with it."""
        chosen = self._stored.keys() - agreed
        while True:
            ours = {v.id: index for index in self._stored for v in self._verdicts[index]}
            for index in sorted(chosen):
                others = self._builders(index) - {i for i, at in ours.items() if at in chosen}
                if not others:
                    continue
                mine = {ours[i] for i in others if i in ours}
                if mine and mine <= agreed and others <= ours.keys():
                    chosen |= mine
                    agreed -= mine
                else:
                    chosen.discard(index)
                break
            else:
                return chosen

    def _builders(self, index: int) -> set[str]:
        """The verdicts that are about, or rest on, what a turn brought."""
        reader = self._registrar.transaction
        if any(one.undone_by is not None for one in self._verdicts[index]):
            return {"undone"}
        brought = [one.fact_id for one in self._verdicts[index] if one.action is Action.ASSERT]
        if not brought:
            return set()
        resting = (
            *reader.derived_from(brought),
            *reader.ever_doubting(brought),
            *reader.contingent_on(brought),
        )
        others = {fact.id for fact in resting if fact.status is not Status.WITHDRAWN}
        others |= set(reader.naming(brought))
        others |= {fact.superseded_by for fact in reader.facts(brought) if fact.superseded_by}
        return {
            one.id
            for one in reader.verdicts([*brought, *others])
            if one.undone_by is None and (one.fact_id in brought or one.action is Action.ASSERT)
        }

    def _take_back(self, index: int) -> None:
        account = self.accounts[index]
        for verdict in reversed(self._verdicts[index]):
            account.verdicts.append(undo(self._registrar, verdict.id, evidence=self._evidence))

    # filing

    def _file(self, index: int, entries: Sequence[Entry]) -> None:
        one, registrar = self._turns[index], self._registrar
        conversation = self._conversation
        shown = dict.fromkeys(map(self._now, self._sitting.known.values()), FoundBySearch(1.0, 0.3))
        situation = looked_at(
            registrar.transaction,
            registrar.lens,
            conversation.session_id,
            WINDOW,
            shown,
            conversation.asks_first,
        )
        earlier = tuple(turn for turn in situation.turns if turn.turn_index < index)
        situation = replace(situation, turns=earlier)
        made = self._understood(index, entries)
        around = Circumstances(
            one.came.speaker,
            conversation.session_id,
            conversation.task_id,
            conversation.branch,
            index,
            one.came.ref,
            one.moment,
            one.came.text,
            conversation.asks_first,
        )
        filing = Filing(registrar, situation, around, self._evidence["reader"], self._evidence)
        record = filing.file(made.reading)
        for verdict in record.verdicts:
            self._became |= dict.fromkeys(verdict.superseded, verdict.fact_id)
        self._account(index, made, "accepted", record.verdicts)
        replace_record(registrar, one, self._stored[index], record, self.accounts[index].verdicts)

    def _understood(self, index: int, entries: Sequence[Entry]) -> Understood:
        one = self._turns[index]
        sentences = {
            name: number for name, (at, number) in self._sitting.sentences.items() if at == index
        }
        turn = ReadTurn(one.came.text, one.came.speaker.name, one.moment, one.reading, sentences)
        made = understood(
            turn, entries, self._known, self._sitting.grounds, self._evidence["reader"]
        )
        return replace(made, reading=_binding_nobody(made.reading))

    def _known(self, name: str) -> Known | None:
        """What a name stands for, as it is by now."""
        fact_id = self._sitting.known.get(name) or self._filed(name)
        if fact_id is None:
            # A sentence that is about to be filed, as far as anybody knows.
            return Known(name, "") if name in self._expected else None
        fact = self._registrar.lens.glimpse(self._registrar.transaction, self._now(fact_id))
        return known_to(_NOWHERE, [fact])[0] if fact is not None else None

    def _filed(self, name: str) -> str | None:
        """The fact that came of a sentence of another turn."""
        place = self._sitting.sentences.get(name)
        stored = self._stored.get(place[0]) if place is not None else None
        if place is None or stored is None:
            return None
        said = self._turns[place[0]].reading.statements[place[1]]
        turn = stored_turn(self._registrar.transaction, self._turns[place[0]]) or stored
        for fact in self._registrar.transaction.facts(turn.fact_ids):
            if fact.source.turn_index == place[0] and fact.source.span == (said.start, said.end):
                return fact.id
        return None

    def _now(self, fact_id: str) -> str:
        while fact_id in self._became:
            fact_id = self._became[fact_id]
        return fact_id

    # the account

    def _account(
        self,
        index: int,
        made: Understood,
        outcome: Literal["accepted", "agreed"],
        verdicts: Sequence[Verdict] = (),
    ) -> None:
        account = self.accounts[index]
        account.verdicts += verdicts
        decided = {one.fact.source.span: one for one in verdicts if one.fact is not None}
        for entry, said in zip(made.entries, made.reading.statements, strict=True):
            if entry is not None:
                verdict = decided.get((said.start, said.end))
                told = said.wording or said.text
                account.proposals.append(_proposed(index, told, outcome, verdict))
        for entry, why in made.refused:
            told = entry.says or self._quote(entry)
            account.proposals.append(_proposed(index, told, "dropped", reason=why))

    def _quote(self, entry: Entry) -> str:
        index, number = self._sitting.sentences[entry.sentence]
        return self._turns[index].reading.statements[number].text


def _proposed(
    index: int,
    told: str,
    outcome: Literal["accepted", "agreed", "dropped"],
    verdict: Verdict | None = None,
    *,
    reason: str = "",
) -> Proposed:
    fact = verdict.fact if verdict is not None else None
    key, subject = (fact.key, fact.subject) if fact is not None else (UNNAMED, None)
    return Proposed(index, key, subject, told, outcome, reason, verdict)


def _binding_nobody(reading: Reading) -> Reading:
    """A reading without the names that would make policy: those are for people to set."""
    statements = tuple(
        replace(one, claim=None)
        if READ in one.cues
        and one.claim is not None
        and classify_constraint(one.claim.attribute, one.claim.value, _SAID) is not None
        else one
        for one in reading.statements
    )
    return replace(reading, statements=statements)


def replace_record(
    registrar: Registrar,
    waiting: Waiting,
    turn: Turn,
    record: Record,
    verdicts: Sequence[Verdict],
) -> None:
    """Enter in the record of a turn, and on the desk, what it brings by now. The verdicts of the
    first reading stay in it, before those that took it back."""
    transaction, user_id = registrar.transaction, registrar.identity.user_id
    fact_ids = tuple(dict.fromkeys(fact.id for fact in record.facts))
    decided = (*turn.verdict_ids, *(one.id for one in verdicts))
    transaction.put_turn(user_id, replace(turn, fact_ids=fact_ids, verdict_ids=decided))
    text = waiting.came.text
    items = transaction.working_items(user_id, turn.session_id)
    for place, item in enumerate(items):
        if (item.key, item.value) == (item_key(turn), text):
            unreal = tuple(spot for spot in item.spots if not spot.fact_id)
            spots = (*own_spots(text, turn.turn_index, record.facts), *unreal)
            marked = replace(item, states=fact_ids, spots=spots)
            # What is put goes to the end of the desk; the turns after it have to stay after it.
            for one in (marked, *items[place + 1 :]):
                transaction.put_item(user_id, turn.session_id, one)
            follow_desk(transaction, user_id, turn.session_id, turn.turn_index, marked)
