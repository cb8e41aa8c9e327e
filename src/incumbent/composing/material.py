"""The material of a context, found through a lens and ranked.

Visibility, scope and validity come first: only facts that this reader may see, here and now, are
searched, counted or compared. So facts that a reader may not know of cannot change the result.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from itertools import accumulate, compress
from operator import is_
from typing import TYPE_CHECKING

import numpy as np

from incumbent.composing.ahead import ahead_of
from incumbent.composing.dead_values import DeadValueFinder
from incumbent.composing.doubts import (
    DoubtsFound,
    doubts_about,
    standing,
    without_doubted,
)
from incumbent.composing.history import past_of
from incumbent.composing.inquiry import SMALL, Inquiry
from incumbent.composing.omissions import contested_by, left_out
from incumbent.composing.passages import passages_for, without_outdated
from incumbent.composing.sheets import SHEETS
from incumbent.composing.time_words import days_told
from incumbent.composing.unknown import unknown_matters
from incumbent.composing.working_set import SelectedItems, WorkingSetSelector, asides, telling
from incumbent.context.document import Omission
from incumbent.context.guard import DeadValueIndex
from incumbent.context.material import Material
from incumbent.context.ranking import MEANING, TEXT, Matches, Ranked, rank, weighed
from incumbent.context.reach import (
    MEASURED,
    Allowance,
    ReadOnce,
    facts_within,
    items_within,
    longest_line,
)
from incumbent.context.rendering import Changed
from incumbent.context.roll import LastRoll
from incumbent.language.values.forms import forms
from incumbent.model.fact import Fact
from incumbent.model.records import is_turn
from incumbent.model.values import is_longer, text_of
from incumbent.rules.scope import View
from incumbent.rules.visibility import meets
from incumbent.search import analysis
from incumbent.search.index import Hides
from incumbent.search.recent import EntryRow
from incumbent.search.retrieval import Hits, alike, search
from incumbent.search.space import SearchSpace
from incumbent.stores.port import Found, Shelf

if TYPE_CHECKING:
    from incumbent.search.collection import Vector

_OPENING = 400
"""Characters of a turn that are read to tell whether it is an aside."""
_TOKENS_A_LINE = 12
_FEWEST = 64
_AMPLE = 1.1
"""So many budgets are filled with what is nearest before the rest is judged."""

_NOWHERE = EntryRow(0, "", 0, None, ())
"""Stands for the row of a fact that was not found."""


class MaterialBuilder(Inquiry):
    """Finds and ranks the material of one context."""

    def material(self) -> Material:
        """Everything the context is made of."""
        read = ReadOnce(forms)
        with self._space() as space:
            hits = self._search(space)
            held = self._held(space, hits)
            on_desk = self.desk.items
            passages = passages_for(self, self._meaning, {item.key for item in on_desk})
            doubts = doubts_about(self, held, [*on_desk, *(one.item for one in passages)])
            view = self.resolved(self._with_doubting(held, doubts, space))
            doubts = standing(doubts, view)
            ahead = ahead_of(self, space)
            hits = hits | self._hits_of(ahead)
            ranked = weighed(self._rank([*view.effective, *ahead], hits), doubts.by)
            ranked, beyond = facts_within(self.request, ranked)
            said = [one.fact for one in ranked if one.sheet.is_said]
            days = days_told(said, self.environment)
            changed = self._changed(ranked)
            # What took the place of a base is told beside what rests on it, found or not.
            told = [one.now for those in changed.values() for one in those if one.now is not None]
            desk = without_doubted(self.desk, doubts)
            passages = without_outdated(self, passages, doubts)
            items = [*desk.items, *(one.item for one in passages)]
            contested = contested_by(self, space, view.effective)
            rivals = [rival for those in contested.values() for rival in those]
            against = [*rivals, *(statements[0] for statements in doubts.by.values())]
            finder = DeadValueFinder(self, space, view, items, read, ahead)
            shown = [*(one.fact for one in ranked), *told, *against]
            dead = finder.dead(shown, [note for notes in days.values() for note in notes])
            gone = finder.gone(items)
            unknown = unknown_matters(self, space)
            named = {fact.id for fact in (*rivals, *ahead)}
            past = past_of(self, space, ranked) if self.request.history else []
            omissions = [*left_out(self, space, view, named), *desk.omissions, *beyond]
        return Material(
            identity=self.lens.identity,
            environment=self.environment,
            frame=self.frame,
            facts=ranked,
            working_set=desk.items,
            foremost=desk.foremost,
            passages=passages,
            said_share=self.lens.settings.passages,
            days=days,
            aside=self._said_aside,
            changed=changed,
            contested=contested,
            doubted=doubts.by,
            unknown=unknown,
            unanswered=not (unknown or passages or self.desk.bears)
            and self._is_unanswered(ranked, hits),
            past=past,
            dead=DeadValueIndex(dead, read),
            gone=gone,
            omissions=omissions,
            is_common=analysis.is_common,
            seq=self.lens.seq(self.reader),
        )

    @cached_property
    def _sheets(self) -> LastRoll:
        return LastRoll(SHEETS)

    # finding

    @contextmanager
    def _space(self) -> Iterator[SearchSpace]:
        """The space to search: the index, or the facts themselves where the index cannot serve."""
        if not self.index.is_current(self.reader):
            yield SearchSpace.ad_hoc(self._rows())
            return
        shelves = self._shelves()
        hides = self._hides()
        with self._looking(shelves, hides) as space:
            yield space

    def _looking(
        self, shelves: Sequence[Shelf], hides: Hides
    ) -> AbstractContextManager[SearchSpace]:
        lens, reader = self.lens, self.reader
        if lens.past:
            return self.index.shelved_then(reader, shelves, lens.when, lens.seq(reader), hides)
        return self.index.shelved(reader, shelves, lens.when, hides)

    def _shelves(self) -> list[Shelf]:
        identity, ladder = self.lens.identity, self.lens.settings.ladder
        return [
            shelf
            for shelf in self.reader.shelves(self.lens.owners, self.lens.places)
            if meets(identity, shelf.requires, shelf.min_authority, ladder)
        ]

    def _hides(self) -> Hides:
        """The declarations that keep keys from this reader."""
        held = self.lens.identity.permissions
        return tuple(
            told for told in self.reader.declarations() if not held.issuperset(told.requires)
        )

    def _rows(self) -> tuple[list[Fact], list[tuple[Found, bool]], int]:
        """The facts in office as if they had been on shelves."""
        facts = self.lens.held(self.reader)
        return facts, self.rows(facts), self.index.dimensions

    def _search(self, space: SearchSpace) -> Hits:
        most = max(_FEWEST, self.request.budget // _TOKENS_A_LINE)
        limit = space.size if space.size <= SMALL else most
        return search(space.collection, self.query, self._meaning, limit=limit)

    def _hits_of(self, facts: Sequence[Fact]) -> Hits:
        """How well these match the query, which no shelf that is searched has."""
        if not facts:
            return Hits()
        space = SearchSpace.ad_hoc(([*facts], self.rows(facts), self.index.dimensions))
        return search(space.collection, self.query, self._meaning, limit=space.size)

    def _meaning(self, text: str) -> Vector | None:
        """The meaning of a query, worked out once for facts and notes."""
        if text not in self._meanings:
            self._meanings[text] = self.index.meaning(text)
        return self._meanings[text]

    @cached_property
    def _meanings(self) -> dict[str, Vector | None]:
        return {}

    def _held(self, space: SearchSpace, hits: Hits) -> list[Fact]:
        """The facts to choose from: all of a small memory, and those of a large one that may
        fit."""
        then = self.bygone(space)
        if then is not None:
            everyone = space.size <= SMALL
            return then.held() if everyone else then.beside(self._promising(hits))
        if space.facts is not None:
            pool = {fact.id: fact for fact in space.facts}
        elif space.size <= SMALL:
            pool = {fact.id: fact for fact in self.lens.held(self.reader)}
        else:
            return self.nearby(self._loaded(self._promising(hits)), space)
        if len(pool) <= SMALL:
            return list(pool.values())
        return self._beside([pool[i] for i in self._promising(hits) if i in pool], pool.values())

    def _with_doubting(
        self, held: list[Fact], doubts: DoubtsFound, space: SearchSpace
    ) -> list[Fact]:
        """These facts and the statements that put one of them in doubt, found or not."""
        if not doubts.by:
            return held
        known = {fact.id: fact for fact in held}
        missing = {one.id for those in doubts.by.values() for one in those}.difference(known)
        if not missing:
            return held
        then = self.bygone(space)
        if then is not None:
            more = then.beside(missing)
        elif space.facts is None:
            more = self.nearby(self._loaded(sorted(missing)), space)
        else:
            more = self._beside([f for f in space.facts if f.id in missing], space.facts)
        return list({**{fact.id: fact for fact in more}, **known}.values())

    def _promising(self, hits: Hits) -> list[str]:
        """The ids of the best hits by words and meaning, somewhat more than would fit, the newer
        first among equals, and of every constraint."""
        # As `base_score` has it; its sign is turned, because the best come first.
        matches = -(TEXT * hits.texts + MEANING * np.maximum(hits.meanings, 0.0))
        ids = [row[1] for row in hits.rows]
        by_id = np.array(sorted(range(len(ids)), key=ids.__getitem__, reverse=True), np.int64)
        order = by_id[np.argsort(matches[by_id], kind="stable")].tolist()
        rows, binding = hits.rows, hits.binding
        taken = list(accumulate([rows[place][2] for place in order]))
        near = max(_FEWEST, bisect_left(taken, _AMPLE * self.request.budget) + 1)
        chosen = [ids[place] for place in order[:near]]
        return [*chosen, *(ids[place] for place in order[near:] if binding[place])]

    def _loaded(self, fact_ids: Iterable[str]) -> list[Fact]:
        facts = self.reader.facts(fact_ids)
        if not facts or self.reader.declarations():
            return self.lens.in_office(self.reader, facts)
        samples = self._sheets.roll(facts).samples()
        seen = self.lens.in_office(self.reader, samples)
        is_alike = len(seen) == len(samples) and all(map(is_, seen, samples))
        return facts if is_alike else self.lens.in_office(self.reader, facts)

    def resolved(self, facts: Iterable[Fact]) -> View:
        facts = list(facts)
        if facts and self._sheets.roll(facts).has_distinct_matters:
            samples = self._sheets.roll(facts).samples()
            if len(super().resolved(samples).effective) == len(samples):
                return View(tuple(facts))  # each is on a matter of its own
        return super().resolved(facts)

    def _beside(self, facts: list[Fact], pool: Iterable[Fact]) -> list[Fact]:
        matters = {(fact.key, fact.subject) for fact in facts}
        found = {fact.id: fact for fact in pool if (fact.key, fact.subject) in matters}
        return list({**found, **{fact.id: fact for fact in facts}}.values())

    def _rank(self, facts: Sequence[Fact], hits: Hits) -> list[Ranked]:
        # A place beyond the last stands for what was not found.
        known, nowhere = hits.places, len(hits.rows)
        places = [known.get(fact.id, nowhere) for fact in facts]
        rows = [*hits.rows, _NOWHERE]
        found = [rows[place] for place in places]
        tokens: list[int | None] = [row[2] for row in found]
        lengths = self._sheets.roll(facts).lengths
        if nowhere in places or (len(lengths) and lengths.max() > MEASURED):
            tokens = [
                None if row is _NOWHERE or is_longer(fact.value, MEASURED) else row[2]
                for fact, row in zip(facts, found, strict=True)
            ]
        matches = Matches(
            facts,
            np.append(hits.texts, 0.0)[places],
            np.append(hits.meanings, 0.0)[places],
            tokens,
            [row[3] for row in found],
            self._bearing(facts, [row[4] for row in found]),
        )
        return rank(
            matches,
            self.asked,
            now=self.lens.when,
            ladder=self.lens.settings.ladder,
            sheets=self._sheets,
            alike=alike,
        )

    def _bearing(self, facts: Sequence[Fact], terms: Sequence[Sequence[str]]) -> list[bool]:
        """Whether each fact shares a word with the query, or its subject with one that does."""
        asked = telling(self.asked)
        shares = [not asked.isdisjoint(own) for own in terms]
        about = [fact.subject for fact in facts]
        subjects = set(compress(about, shares)) - {None, ""}
        if not subjects:
            return shares
        return [bears or subject in subjects for bears, subject in zip(shares, about, strict=True)]

    # the conversation

    @cached_property
    def desk(self) -> SelectedItems:
        """The notes on the query and the turns that bear on it, as far as the budget reaches."""
        if not self.items:
            return SelectedItems([], [], [], bears=False)
        longest = longest_line(self.request.budget)
        near = [item for item in self.items if not is_longer(item.value, longest)]
        far = {item.key for item in self.items}.difference(item.key for item in near)
        turns = [item for item in self.items if is_turn(item)]
        desk = WorkingSetSelector(
            near,
            self.asked,
            recent=self.lens.settings.recent_turns,
            everything=not self.request.profile.floor,
            aside=[turns[index].key for index in self._asides],
        )
        found = desk.shown(self.query, self.index, self._meaning)
        kept = items_within(self.request.budget, found.items, found.foremost)
        keys = {item.key for item in kept}
        far |= {item.key for item in found.items} - keys
        beyond = [Omission("over budget", item=i.key) for i in self.items if i.key in far]
        return found._replace(
            items=kept,
            foremost=[key for key in found.foremost if key in keys],
            omissions=[*found.omissions, *beyond],
        )

    @cached_property
    def _asides(self) -> set[int]:
        """The turns of asides that are over, unless the query is about them."""
        texts = [text_of(item.value)[:_OPENING] for item in self.items if is_turn(item)]
        found = asides(texts)
        # A word that the rest has too is no sign that the query is about the aside.
        rest = [analysis.terms(text) for index, text in enumerate(texts) if index not in found]
        asked = self.asked.difference(*rest) if found else self.asked
        if any(asked.intersection(analysis.terms(texts[index])) for index in found):
            return set()
        return found

    @cached_property
    def _said_aside(self) -> set[str]:
        """Facts that were said in an aside: they are on record, and not to the point."""
        turns = [item for item in self.items if is_turn(item)]
        return {fact_id for index in self._asides for fact_id in turns[index].states}

    # what the facts leave open

    def _changed(self, ranked: Sequence[Ranked]) -> dict[str, list[Changed]]:
        """The changed bases of the facts that need review, as far as they may be seen."""
        found: dict[str, list[Changed]] = {}
        allowance = Allowance(self.request.budget)
        for fact in [one.fact for one in ranked if one.fact.causes]:
            found[fact.id] = []
            for cause in sorted(fact.causes, key=lambda cause: cause.base):
                base = self.lens.glimpse(self.reader, cause.base)
                now = self.lens.by_id(self.reader, cause.now) if cause.now else None
                if base is not None:
                    sure = now is not None and now.is_valid and not now.needs_review
                    sure = sure and now is not None and allowance.takes(now.key, now.value)
                    found[fact.id].append(Changed(base, now if sure else None))
        return found

    def _is_unanswered(self, ranked: Sequence[Ranked], hits: Hits) -> bool:
        """Whether no fact shares a word, except from its subject, or a meaning with the query.
        Without the conversation nobody can tell: the answer may be in what the caller sends."""

        can_tell = bool(self.asked) and self.request.conversation and self.request.budget > 0
        return can_tell and not any(self._bears(one, hits) for one in ranked)

    def _bears(self, one: Ranked, hits: Hits) -> bool:
        """Whether a fact that was found has to do with the query by more than its subject."""
        place = hits.places.get(one.fact.id)
        if place is None:
            return False
        if hits.meanings[place] > self.index.unrelated:
            return True
        shared = self.asked.intersection(hits.rows[place].terms)
        return bool(shared) and not shared.issubset(one.sheet.about)
