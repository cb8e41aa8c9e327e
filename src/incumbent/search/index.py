"""The index of a memory: makes entries for facts, and keeps shelves in memory for searching."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Fact, Part
from incumbent.model.forms import Read, no_forms
from incumbent.model.records import Declaration
from incumbent.model.scope import Place
from incumbent.model.text_cache import when_forgetting
from incumbent.model.times import to_micros
from incumbent.search import analysis
from incumbent.search.embedders.sharing import SharedBatches
from incumbent.search.space import SearchSpace
from incumbent.stores.port import IndexEntry, IndexReader, IndexWriter, Reader, Shelf, Store

if TYPE_CHECKING:
    from datetime import datetime

    from incumbent.search.collection import Frequent, Posted, Vector
    from incumbent.search.embedders import Embedder
    from incumbent.search.recent import Recent
    from incumbent.search.shelf_index import ShelfIndex

Progress = Callable[[str, int, int | None], None]
"""The callback for long work: the work, the amount done, and the total if it is known."""
Hides = tuple[Declaration, ...]
"""Declarations that keep the keys they match from a reader."""

_REMEMBERED_TEXTS = 4_096
_REMEMBERED_QUERIES = 64
"""What is asked for is often what was said a moment ago, and is looked for several times."""
_REMEMBERED_ENTRIES = 4_000_000
_WEIGHT_OF_PAST = 2
_PORTION = 128
_UNRELATED = 0.2
OUTDATED = ""


class Outpaced(Exception):
    """Raised if the shelves in memory are newer than this reader's state; look again with a new
    reader."""


class Index:
    """Makes entries and searches them. One for each memory; safe to share between threads."""

    def __init__(
        self,
        embedder: Embedder | None,
        *,
        tokenizer: str,
        measure: Callable[[Fact], int],
        progress: Progress | None = None,
        read: Read = no_forms,
    ) -> None:
        self.embedder = embedder
        self.progress = progress
        self.unrelated: float = getattr(embedder, "unrelated", _UNRELATED)
        """A meaning nearer than this may be related to a query."""
        named = embedder.name if embedder is not None else "no embedder"
        self.recipe = f"analysis {analysis.VERSION}, {named}, {tokenizer}"
        shares = embedder is not None and getattr(embedder, "shares_batches", False)
        self._batches = SharedBatches(self._embedded) if shares else None
        self._measure = measure
        self._read = read
        self._vectors: OrderedDict[str, bytes] = OrderedDict()
        self._meanings: OrderedDict[str, Vector] = OrderedDict()
        self._recent: Recent | None = None  # takes numpy, which only searching needs
        self._stacks: OrderedDict[tuple[str, int], ShelfIndex] = OrderedDict()
        self._frequent: dict[tuple[tuple[int, ...], str, int], Frequent] = {}
        self._posted: Posted = {}
        # Held for a look into these tables and never while a store, an embedder or a caller works:
        # all organizations share it.
        self._lock = threading.Lock()
        when_forgetting(self.forget)

    def forget(self) -> None:
        """Drop the remembered texts, and the shelves, which hold words of texts: one of them was
        erased. A search under way goes on with the old shelves; later ones do not."""
        with self._lock:
            self._vectors.clear()
            self._meanings.clear()
            self._stacks.clear()
            self._frequent = {}
            self._posted = {}
            self._recent = None

    # writing

    def foresee(self, likely: Iterable[tuple[str, str | None, str, tuple[Part, ...]]]) -> None:
        """Look at what facts will say, by key, subject, value and parts, ahead of a transaction, so
        that nobody waits for it."""
        meanings = []
        for key, subject, value, parts in likely:
            analysis.probes(value, parts, self._read)
            meanings.append(analysis.sentence(key, subject, value))
        self.prepare(meanings)

    def prepare(self, texts: Iterable[str]) -> None:
        """Compute the meaning of texts ahead of a transaction, so that nobody waits for it."""
        if self.embedder is None:
            return
        wanted = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        for start in range(0, len(wanted), _PORTION):
            portion = wanted[start : start + _PORTION]
            made = quantised(self._embedded(portion))
            with self._lock:
                self._vectors.update(zip(portion, made, strict=True))
                while len(self._vectors) > max(_REMEMBERED_TEXTS, len(wanted)):
                    self._vectors.popitem(last=False)

    def vector(self, text: str) -> bytes | None:
        if self.embedder is None:
            return None
        vector = self._vectors.get(text)
        return vector if vector is not None else quantised(self._embedded([text]))[0]

    def _embedded(self, texts: Sequence[str]) -> Vector:
        """The vectors of texts by the embedder; refused if they are not as promised."""
        assert self.embedder is not None
        made = self.embedder.embed(texts)
        wanted = (len(texts), self.dimensions)
        if made.shape != wanted:
            raise InvalidInput(
                f"embedder {self.embedder.name!r} gave an array of shape {made.shape} for "
                f"{len(texts)} texts; embed() must give {wanted}"
            )
        return made

    def entry(self, fact: Fact, *, live: bool) -> IndexEntry:
        """The entry of a fact. Only a fact that holds or may hold office needs a meaning."""
        text = analysis.text_for_terms(fact.key, fact.subject, fact.value)
        meaning = analysis.sentence(fact.key, fact.subject, fact.value)
        return IndexEntry(
            fact=fact,
            terms=" ".join(analysis.terms(text)),
            probes=" ".join(
                [
                    *analysis.probes(fact.value, fact.parts, self._read),
                    analysis.matter(fact.key, fact.subject),
                ]
            ),
            tokens=self._measure(fact),
            vector=self.vector(meaning) if live else None,
        )

    def keep(
        self, transaction: IndexWriter, facts: Iterable[Fact], now: datetime, *, first: bool
    ) -> None:
        """Index the facts of a transaction, in that transaction.

        `first` means that the organization had nothing before. If the index has another recipe,
        nothing is added: it is outdated as a whole, and is made anew when it is next needed.
        """
        facts = list(facts)
        if not facts:
            return
        recipe = transaction.recipe()
        if recipe is None and first:
            transaction.set_recipe(self.recipe)
        elif recipe != self.recipe:
            transaction.set_recipe(OUTDATED)
            return
        transaction.index([self.entry(f, live=f.may_hold_after(now)) for f in facts])

    # rebuilding

    def is_current(self, reader: Reader) -> bool:
        """Whether the index of an organization can be searched as it is."""
        return reader.recipe() == self.recipe or not reader.head()[0]

    def rebuild(self, store: Store, organization: str) -> int:
        """Make the index of an organization anew, in steps that let others work in between."""
        removed = 1
        while removed:
            with store.write(organization) as transaction:
                # Every time: another process may have finished an index of its own in between.
                transaction.set_recipe(OUTDATED)
                removed = transaction.unindex(1_000)
                total = transaction.head()[0]
        done, after = 0, ""
        while True:
            if after or not done:
                self._tell(done, total)
            with store.read(organization) as reader:
                facts = reader.unindexed(_PORTION, after)
            self.prepare(analysis.sentence(f.key, f.subject, f.value) for f in facts)
            with store.write(organization) as transaction:
                missing = transaction.unindexed(_PORTION, after)
                if not missing and not after:
                    transaction.set_recipe(self.recipe)
                    break
                # What others wrote meanwhile may lie behind; the last round begins at the start.
                after = missing[-1].id if missing else ""
                now = transaction.head()[1]
                assert now is not None, "there are facts, so there is a log"
                transaction.index([self.entry(f, live=f.may_hold_after(now)) for f in missing])
                done += len(missing)
        self._tell(done, done)
        return done

    def _tell(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress("indexing facts", done, max(done, total))

    # searching

    @property
    def dimensions(self) -> int:
        return self.embedder.dimensions if self.embedder is not None else 0

    def meaning(self, query: str) -> Vector | None:
        """The meaning of a query, or None if there is no embedder."""
        if self.embedder is None or not query.strip():
            return None
        with self._lock:
            meaning = self._meanings.get(query)
        if meaning is None:
            shared = self._batches
            meaning = self._embedded([query])[0] if shared is None else shared.vector(query)
            with self._lock:
                self._meanings[query] = meaning
                while len(self._meanings) > _REMEMBERED_QUERIES:
                    self._meanings.popitem(last=False)
        return meaning

    @contextmanager
    def shelved(
        self, reader: IndexReader, shelves: Sequence[Shelf], when: datetime, hides: Hides
    ) -> Iterator[SearchSpace]:
        """The entries on these shelves that hold at a moment, except those whose key is hidden."""
        from incumbent.search.collection import Shelved

        with self._looked_at(reader, shelves, with_keys=bool(hides)) as stacks:
            kept: set[int] = set()
            for stack in stacks.values() if hides else ():
                kept |= stack.kept_by(hides)
            early = (entry for stack in stacks.values() for entry in stack.out_of_term(when))
            live = (entry for stack in stacks.values() for entry in stack.only_live(kept))
            hidden = {*early, *live}
            binding = [shelf.id for shelf in shelves if shelf.binding]
            collection = Shelved(reader, stacks, binding, hidden, self._frequent, self._posted)
            yield SearchSpace(
                collection,
                size=collection.size,
                total=sum(stack.filled for stack in stacks.values()) - len(kept),
                expired=[
                    entry
                    for stack in stacks.values()
                    for entry in stack.expired(when)
                    if entry not in kept
                ],
                ahead=[
                    entry
                    for _, entry in sorted(
                        begun for stack in stacks.values() for begun in stack.early(when)
                    )
                    if entry not in kept
                ],
                stacks=list(stacks.values()),
                hidden=hidden,
                filled=_by_place(shelves, stacks),
            )

    @contextmanager
    def shelved_then(
        self, reader: Reader, shelves: Sequence[Shelf], when: datetime, seq: int, hides: Hides
    ) -> Iterator[SearchSpace]:
        """The entries on these shelves that held at a moment, as known after an entry of the log,
        except those whose key is hidden."""
        from incumbent.search.moment import PastMoment, ShelfMoment

        with self._looked_at(reader, shelves, with_keys=bool(hides)) as stacks:
            moments = []
            for shelf in shelves:
                stack = stacks[shelf.id]
                stack.tenures.catch_up(stack, reader, shelf.id)
                known = stack.tenures.known(seq)
                if hides:
                    known[stack.places_in(stack.kept_by(hides))] = False
                standing = stack.tenures.standing(seq)
                moments.append(ShelfMoment(stack, shelf.binding, known, standing, to_micros(when)))
            then = PastMoment(reader, moments, lambda ids: self._meant_anew(reader, ids))
            yield SearchSpace(
                then, size=then.size, total=then.total, then=then, stacks=list(stacks.values())
            )

    def _meant_anew(self, reader: Reader, fact_ids: Sequence[str]) -> list[bytes | None]:
        """The vectors of facts that were kept without one, because they did not hold by then."""
        if self.embedder is None:
            return [None] * len(fact_ids)
        texts = {
            fact.id: analysis.sentence(fact.key, fact.subject, fact.value)
            for fact in reader.facts(fact_ids)
        }
        self.prepare(texts.values())
        return [self.vector(texts[fact_id]) for fact_id in fact_ids]

    @contextmanager
    def _looked_at(
        self, reader: IndexReader, shelves: Sequence[Shelf], *, with_keys: bool
    ) -> Iterator[dict[int, ShelfIndex]]:
        """The stacks of shelves as this reader sees them, which nobody changes meanwhile.

        Several readers use them side by side. A reader of a newer shelf waits for the readers of
        that very shelf, and for nobody else.
        """
        while True:
            stacks = {shelf.id: self._stack(reader, shelf, with_keys) for shelf in shelves}
            with ExitStack() as looking:
                for stack in stacks.values():
                    looking.enter_context(stack.latch.looking())
                if all(stacks[shelf.id].version == shelf.version for shelf in shelves):
                    yield stacks
                    return
            # Somebody who sees more came in between: the next look at it tells.

    def _stack(self, reader: IndexReader, shelf: Shelf, with_keys: bool) -> ShelfIndex:
        name = (reader.organization, shelf.id)
        stack = self._kept_stack(name, with_keys)
        if stack.version < shelf.version:
            with stack.latch.changing():
                if stack.version < shelf.version:
                    self._catch_up(stack, reader, shelf, name)
        if stack.version > shelf.version:
            raise Outpaced
        return stack

    def _kept_stack(self, name: tuple[str, int], with_keys: bool) -> ShelfIndex:
        from incumbent.search.recent import Recent
        from incumbent.search.shelf_index import ShelfIndex

        with self._lock:
            self._recent = self._recent or Recent()
            stack = self._stacks.get(name)
            if stack is None or (with_keys and stack.keys is None):
                stack = self._stacks[name] = ShelfIndex(
                    self.dimensions, with_keys=with_keys, recent=self._recent
                )
            self._stacks.move_to_end(name)
            return stack

    def _catch_up(
        self, stack: ShelfIndex, reader: IndexReader, shelf: Shelf, name: tuple[str, int]
    ) -> None:
        try:
            stack.catch_up(reader.placed(shelf.id, stack.version), shelf.version)
        except BaseException:
            # It may have taken in a part; whoever comes next begins anew.
            with self._lock:
                if self._stacks.get(name) is stack:
                    del self._stacks[name]
            raise
        with self._lock:
            self._make_room()

    def _make_room(self) -> None:
        while (
            len(self._stacks) > 1 and sum(map(_weight, self._stacks.values())) > _REMEMBERED_ENTRIES
        ):
            self._stacks.popitem(last=False)


def _by_place(
    shelves: Sequence[Shelf], stacks: dict[int, ShelfIndex]
) -> dict[tuple[str, Place], list[ShelfIndex]]:
    found: dict[tuple[str, Place], list[ShelfIndex]] = {}
    for shelf in shelves:
        if stacks[shelf.id].size:
            found.setdefault((shelf.owner, shelf.place), []).append(stacks[shelf.id])
    return found


def _weight(stack: ShelfIndex) -> int:
    """What a stack takes in memory, in entries of the present."""
    return len(stack) + _WEIGHT_OF_PAST * len(stack.tenures)


def quantised(vectors: Vector) -> list[bytes]:
    """Each vector as one signed byte a dimension; only its direction matters."""
    import numpy as np

    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = np.divide(127 * vectors, largest, out=np.zeros_like(vectors), where=largest > 0)
    return [row.tobytes() for row in np.rint(scaled).astype(np.int8)]
