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
from incumbent.model.records import item_key
from incumbent.model.verdict import Action, Verdict
from incumbent.reading.asked.answer import Answered, Entry
from incumbent.reading.asked.asking import Trouble
from incumbent.reading.asked.readings import Understanding
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
from incumbent.turns.rereading.waiting import Conversation, Standing
from incumbent.turns.situation import FoundBySearch, Situation, known_to, looked_at
from incumbent.turns.spots import own_spots

CHANGED: Final = "what the turn brought has changed since; the offline reading stands"
_SEVERAL: Final = 2
"""An answer of which so many entries are bad, and most, is not put into effect."""
_NOWHERE: Final = Situation(0, (), {}, {}, {}, {})
_SAID: Final = Source(type="conversation")


@dataclass
class Revised(Standing):
    """A turn that is read again, and what became of the entries of its answer."""

    entries: list[Entry] = field(default_factory=list)
    proposals: list[Proposed] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)

    def note(
        self,
        told: str,
        outcome: Literal["accepted", "agreed", "dropped"],
        reason: str = "",
        verdict: Verdict | None = None,
    ) -> None:
        """Enter what became of an entry."""
        fact = verdict.fact if verdict is not None else None
        key, subject = (fact.key, fact.subject) if fact is not None else (UNNAMED, None)
        index = self.stored.turn_index
        self.proposals.append(Proposed(index, key, subject, told, outcome, reason, verdict))


class Revision:
    """Files the readings of one answer, inside one transaction."""

    def __init__(
        self,
        registrar: Registrar,
        conversation: Conversation,
        sitting: Sitting,
        turns: Iterable[Standing],
        evidence: Mapping[str, str],
    ) -> None:
        self._registrar = registrar
        self._conversation = conversation
        self._sitting = sitting
        self._evidence = {**evidence, "revision": new_id(registrar.now)}
        self._became: dict[str, str] = {}
        """Facts that this revision replaced, and by which."""
        self._expected: set[str] = set()
        """Sentences that may become facts, before anything is filed."""
        self.is_of_use = True
        """Whether most of the answer could be believed."""
        self.turns = {
            one.stored.turn_index: Revised(one.waiting, one.stored, one.offline) for one in turns
        }

    def apply(self, answered: Answered) -> None:
        """Put an answer into effect, turn by turn, as far as that does no harm."""
        bad = self._assign(answered)
        self._expected = {one.sentence for turn in self.turns.values() for one in turn.entries}
        read = {index: self._understood(index) for index in self.turns}
        self._expected = set()
        bad += sum(len({id(entry) for entry, _ in made.refused}) for made in read.values())
        self.is_of_use = bad * 2 <= len(answered.entries) + len(answered.unreadable)
        if not self.is_of_use and bad >= _SEVERAL:
            raise Trouble("unfit", "most of the answer could not be believed")
        rows = self._registrar.transaction
        agreed = {
            index
            for index, one in self.turns.items()
            if agrees(read[index].reading, one.waiting.reading, one.offline, rows, index)
        }
        chosen = self._untouched(agreed)
        for index in sorted(chosen, reverse=True):
            self._take_back(self.turns[index])
        for index, turn in sorted(self.turns.items()):
            if index in chosen:
                self._file(index, turn)
            elif index in agreed:
                self._account(turn, read[index], "agreed")
            elif turn.entries or turn.offline:
                turn.note("", "dropped", CHANGED)

    def _assign(self, answered: Answered) -> int:
        """Give each turn its entries. What cannot be read, or is of no turn, is told with the last
        and counted."""
        astray = list(answered.unreadable)
        for entry in answered.entries:
            place = self._sitting.sentences.get(entry.sentence)
            if place is None:
                astray.append(f"{entry.sentence!r:.20} was not to be read")
            elif place[0] in self.turns:
                self.turns[place[0]].entries.append(entry)
        last = self.turns[max(self.turns)]
        last.proposals += [Proposed(0, "", None, "", "dropped", why) for why in astray]
        return len(astray)

    # what may be taken back

    def _untouched(self, agreed: set[int]) -> set[int]:
        """The turns on whose facts nobody else has built. An agreed turn that built on one that
        goes is filed again with it."""
        chosen = self.turns.keys() - agreed
        ours = {v.id: index for index, one in self.turns.items() for v in one.offline}
        while True:
            going = {i for i, at in ours.items() if at in chosen}
            for index in sorted(chosen):
                others = self._builders(self.turns[index]) - going
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

    def _builders(self, turn: Revised) -> set[str]:
        """The verdicts that are about, or rest on, what a turn brought."""
        reader = self._registrar.transaction
        if any(one.undone_by is not None for one in turn.offline):
            return {"undone"}
        brought = [*turn.brought]
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

    def _take_back(self, turn: Revised) -> None:
        for verdict in reversed(turn.offline):
            turn.verdicts.append(undo(self._registrar, verdict.id, evidence=self._evidence))

    # filing

    def _file(self, index: int, turn: Revised) -> None:
        one, registrar = turn.waiting, self._registrar
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
        earlier = tuple(other for other in situation.turns if other.turn_index < index)
        situation = replace(situation, turns=earlier)
        made = self._understood(index)
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
        self._account(turn, made, "accepted", record.verdicts)
        self._enter(turn, record)

    def _understood(self, index: int) -> Understanding:
        turn = self.turns[index]
        one, named = turn.waiting, self._sitting.sentences
        made = Understanding(
            one.came.text,
            one.came.speaker.name,
            one.moment,
            one.reading,
            {name: number for name, (at, number) in named.items() if at == index},
            self._known,
            self._sitting.grounds,
            self._evidence["reader"],
        )
        made.read(turn.entries)
        made.reading = _binding_nobody(made.reading)
        return made

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
        turn = self.turns.get(place[0]) if place is not None else None
        if place is None or turn is None:
            return None
        said = turn.waiting.reading.statements[place[1]]
        where = (place[0], (said.start, said.end))
        for fact in self._registrar.transaction.facts(turn.stored.fact_ids):
            if (fact.source.turn_index, fact.source.span) == where:
                return fact.id
        return None

    def _now(self, fact_id: str) -> str:
        while fact_id in self._became:
            fact_id = self._became[fact_id]
        return fact_id

    # the account

    def _account(
        self,
        turn: Revised,
        made: Understanding,
        outcome: Literal["accepted", "agreed"],
        verdicts: Sequence[Verdict] = (),
    ) -> None:
        turn.verdicts += verdicts
        decided = {one.fact.source.span: one for one in verdicts if one.fact is not None}
        for entry, said in zip(made.entries, made.reading.statements, strict=True):
            if entry is not None:
                verdict = decided.get((said.start, said.end))
                turn.note(said.wording or said.text, outcome, verdict=verdict)
        for entry, why in made.refused:
            number = made.sentences[entry.sentence]
            turn.note(entry.says or made.offline.statements[number].text, "dropped", why)

    def _enter(self, turn: Revised, record: Record) -> None:
        """Enter in the record of a turn, and on the desk, what it brings by now. The verdicts of
        the first reading stay in it, before those that took it back."""
        rows, user_id = self._registrar.transaction, self._registrar.identity.user_id
        stored, text = turn.stored, turn.waiting.came.text
        fact_ids = tuple(dict.fromkeys(fact.id for fact in record.facts))
        decided = (*stored.verdict_ids, *(one.id for one in turn.verdicts))
        turn.stored = replace(stored, fact_ids=fact_ids, verdict_ids=decided)
        rows.put_turn(user_id, turn.stored)
        items = rows.working_items(user_id, stored.session_id)
        for place, item in enumerate(items):
            if (item.key, item.value) == (item_key(stored), text):
                unreal = tuple(spot for spot in item.spots if not spot.fact_id)
                spots = (*own_spots(text, stored.turn_index, record.facts), *unreal)
                marked = replace(item, states=fact_ids, spots=spots)
                # What is put goes to the end of the desk; the turns after it stay after it.
                for one in (marked, *items[place + 1 :]):
                    rows.put_item(user_id, stored.session_id, one)
                follow_desk(rows, user_id, stored.session_id, stored.turn_index, marked)


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
