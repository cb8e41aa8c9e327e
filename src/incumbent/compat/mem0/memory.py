"""mem0's `Memory`, on a real memory of Incumbent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from os import PathLike
from types import TracebackType
from typing import Any, Self

from incumbent import opening
from incumbent.clock import Clock
from incumbent.compat.mem0 import filters as conditions
from incumbent.compat.mem0.chains import MemoryFinder, line_of, root_of
from incumbent.compat.mem0.details import DetailKeeper, Details, merged
from incumbent.compat.mem0.refusals import Mem0Refusals, refuse, refuse_given
from incumbent.compat.mem0.scoping import Ids, ids_of
from incumbent.compat.mem0.selecting import (
    HeldMemory,
    belongs,
    details_of,
    listed,
    ranked,
    selection_of,
    speaker_of,
)
from incumbent.compat.mem0.shapes import (
    EVENTS,
    RAW,
    check_query,
    check_threshold,
    end_of,
    history_rows,
    item_of,
    memory_text,
    metadata_of,
    payload_of,
    turns_of,
    value_of,
)
from incumbent.compat.mem0.showing import shown_texts
from incumbent.context.request import LONGEST_QUERY
from incumbent.language.speakers import is_machine
from incumbent.memory import Memory
from incumbent.model.errors import InvalidInput, NotPermitted, UnknownFact
from incumbent.model.fact import Fact, Source
from incumbent.model.ids import new_id
from incumbent.model.verdict import Outcome
from incumbent.session import Session
from incumbent.settings import Settings
from incumbent.turns.transcripts import turn_arguments

_UNSET: Any = object()
_DEFAULT_FILE = "incumbent.db"


class Mem0Memory(Mem0Refusals):
    """The calls of mem0's `Memory` on Incumbent: what was superseded is in `history` alone.

    `where` is what `incumbent.open` takes, or a memory that is open already. Safe to share between
    threads, as that is.
    """

    def __init__(
        self,
        where: str | PathLike[str] | Memory = _DEFAULT_FILE,
        *,
        organization: str = "default",
        authority: str = "employee",
        permissions: Iterable[str] = (),
        key: str | None = None,
        clock: Clock | None = None,
        settings: Settings | None = None,
    ) -> None:
        if isinstance(where, Memory):
            self._memory, self._is_ours = where, False
        elif isinstance(where, str | PathLike):
            self._memory = opening.open(where, clock=clock, settings=settings, key=key)
            self._is_ours = True
        else:
            raise refuse("config", "a configuration")
        identity = {"authority": authority, "permissions": tuple(permissions)}
        self._finder = MemoryFinder(self._memory, organization, identity)
        self._details = DetailKeeper(self._memory, organization)

    @property
    def incumbent(self) -> Memory:
        """The memory of Incumbent that this stands on."""
        return self._memory

    # writing

    def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Take in messages: `{"results": [{"id", "memory", "event"}, …]}`.

        With `infer` they are observed, and a correction is an UPDATE of the memory it corrects;
        without it each is kept as it is. `timestamp` is when it was said.
        """
        refuse_given(memory_type=memory_type, prompt=prompt)
        ids = ids_of({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, "add()")
        turns = turns_of(messages)
        about = metadata_of(metadata)
        until = end_of(expiration_date)
        if until is not None and infer:
            raise refuse("expiration_date")
        at = turn_arguments({"text": "", "at": timestamp}).get("at")
        session = self._finder.session(ids.owner, run_id=ids.run_id)
        made: list[dict[str, Any]] = []
        for turn in turns:
            known = details_of(ids, about, turn, infer=infer)
            if infer:
                made += self._observed(session, ids, turn, known, at)
            else:
                made.append(self._kept(session, ids, turn, known, at, until))
        return {"results": made}

    def _observed(
        self, session: Session, ids: Ids, turn: dict[str, Any], new: Details, at: Any
    ) -> list[dict[str, Any]]:
        """Observe a turn, and tell what became of memories."""
        observation = session.observe(turn["text"], speaker=speaker_of(turn, ids), at=at)
        made: list[dict[str, Any]] = []
        changed: dict[str, Details] = {}
        for verdict in observation.verdicts:
            fact = verdict.fact
            if fact is None or not fact.scope.is_real:
                continue  # a what-if changes nothing
            root = root_of(session, fact)
            event = EVENTS.get(verdict.outcome, "NONE")
            item = {
                "id": self._finder.id_of(root, ids.owner),
                "memory": memory_text(fact),
                "event": event,
            }
            before = session.get(verdict.superseded[0]) if verdict.superseded else None
            if event == "UPDATE" and before is not None:
                item["previous_memory"] = memory_text(before)
            made.append(item)
            if new and verdict.took_office:
                changed[root.id] = merged(self._details.of_one(ids.owner, root.id), new)
        self._details.keep(ids.owner, changed)
        gone = (fact_id for proof in observation.erasures for fact_id in proof.fact_ids)
        made += [{"id": fact_id, "memory": "", "event": "DELETE"} for fact_id in gone]
        return made

    def _kept(
        self,
        session: Session,
        ids: Ids,
        turn: dict[str, Any],
        details: Details,
        at: Any,
        until: Any,
    ) -> dict[str, Any]:
        """Keep a message as it is, at an address of its own."""
        said_by = turn["name"] or turn["role"]
        machine = is_machine(turn["role"])
        source = Source(
            type="conversation",
            name="mem0",
            speaker=said_by,
            by_machine=machine,
            quote=turn["text"],
        )
        key = RAW + new_id(self._memory.now())[-10:]
        verdict = session.write(key, turn["text"], source=source, at=at, valid_until=until)
        assert verdict.fact is not None
        self._details.keep(ids.owner, {verdict.fact_id: details})
        return {
            "id": self._finder.id_of(verdict.fact, ids.owner),
            "memory": turn["text"],
            "event": "ADD",
            "actor_id": turn["name"],
            "role": turn["role"],
        }

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: dict[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Give a memory a new text, which supersedes the old one, or more metadata."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise InvalidInput("update needs a text or metadata; give one of them")
        if expiration_date is not _UNSET and text is None:
            raise refuse("expiration_alone", "update with expiration_date alone")
        if text is not None and not (isinstance(text, str) and text.strip()):
            raise InvalidInput("text is empty; to take a memory back use delete(memory_id)")
        session, chain, owner = self._live(memory_id)
        if text is not None:
            until = None if expiration_date is _UNSET else end_of(expiration_date)
            self._supersede(session, chain[-1], text, until)
        if about := metadata_of(metadata):
            known = self._details.of_one(owner, chain[0].id)
            self._details.keep(owner, {chain[0].id: merged(known, {"metadata": about})})
        return {"message": "Memory updated successfully!"}

    def _supersede(self, session: Session, fact: Fact, text: str, until: Any) -> None:
        verdict = session.write(
            fact.key,
            value_of(text, fact),
            subject=fact.subject,
            scope=fact.scope,
            scope_id=fact.scope_id,
            supersedes=fact.id,
            source="mem0",
            valid_until=until,
        )
        if verdict.outcome in (Outcome.OVERRULED, Outcome.CONTESTED):
            raise NotPermitted(
                f"memory {fact.id} is the word of a higher authority ({fact.standing}) and stays; "
                f"open Memory(..., authority=...) for somebody who may change it"
            )

    def delete(self, memory_id: str) -> dict[str, str]:
        """Take a memory back. Its history stays; `memory.incumbent.forget` erases for good."""
        session, chain, owner = self._live(memory_id)
        self._retract(session, chain[-1], chain[0], owner)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Take back every memory of a user, an agent or a run."""
        named = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        ids = ids_of(named, "delete_all()")
        for owner in self._owners(ids):
            session = self._finder.session(owner, run_id=ids.run_id)
            for held in self._held(session, ids, owner, listed(session)):
                if held.fact.owner == owner:  # what is everybody's is not theirs to take back
                    self._retract(session, held.fact, held.root, owner)
        return {"message": "Memories deleted successfully!"}

    def _retract(self, session: Session, fact: Fact, root: Fact, owner: str) -> None:
        session.retract(fact.id, "deleted through mem0's interface")
        self._details.drop(owner, root.id)

    def _live(self, memory_id: str) -> tuple[Session, list[Fact], str]:
        """The chain of a memory that is there."""
        found = self._finder.chain(memory_id)
        if found is None or not found[1][-1].is_valid:
            raise UnknownFact(f"Memory with id {memory_id!r:.80} not found; get_all() lists them")
        return found

    # reading

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: dict[str, Any] | None = None,
        threshold: float = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """The memories in office that a query asks for, best first: `{"results": […]}`.

        The ids of `filters` may also be given by themselves, and `top_k` as `limit`, as in mem0
        before version 2.
        """
        refuse_given(rerank=rerank, reference_date=reference_date, show_expired=show_expired)
        asked = check_query(query)[:LONGEST_QUERY]
        least = check_threshold(threshold)
        ids, test, top_k = selection_of(filters, kwargs, top_k, "search()")
        found: list[dict[str, Any]] = []
        for owner in self._owners(ids):
            session = self._finder.session(owner, run_id=ids.run_id)
            facts = ranked(session, asked, top_k, least, explain=explain)
            held = self._held(session, ids, owner, facts, test)
            found += self._told(session, owner, held, top_k)
        found.sort(key=lambda item: -item["score"])
        return {"results": found[:top_k]}

    def get_all(
        self,
        *,
        filters: dict[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """The memories in office of a user, an agent or a run, newest first: `{"results": […]}`."""
        refuse_given(show_expired=show_expired)
        ids, test, top_k = selection_of(filters, kwargs, top_k, "get_all()")
        found: list[dict[str, Any]] = []
        for owner in self._owners(ids):
            session = self._finder.session(owner, run_id=ids.run_id)
            held = self._held(session, ids, owner, listed(session), test)
            found += self._told(session, owner, held, top_k)
        return {"results": found[:top_k]}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """A memory as it is now; None where it was deleted or never was."""
        found = self._finder.chain(memory_id)
        if found is None or not found[1][-1].is_valid:
            return None
        session, chain, owner = found
        details = self._details.of_one(owner, chain[0].id)
        payload = payload_of(chain[-1], chain[0], owner, details)
        held = HeldMemory(chain[-1], chain, details, payload, {"score": None})
        return next(iter(self._told(session, owner, [held], 1, memory_id)), None)

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Every change of a memory, oldest first, with what was superseded."""
        found = self._finder.chain(memory_id)
        if found is None:
            return []
        _, chain, owner = found
        return history_rows(memory_id, chain, self._details.of_one(owner, chain[0].id))

    def _owners(self, ids: Ids) -> list[str]:
        """Those whose memories these ids may name."""
        if ids.user_id is not None:
            return [ids.owner]
        name, value = ("agent_ids", ids.agent_id) if ids.agent_id else ("run_ids", ids.run_id)
        return list(dict.fromkeys([ids.owner, *self._details.owners(name, str(value))]))

    def _held(
        self,
        session: Session,
        ids: Ids,
        owner: str,
        facts: Iterable[tuple[Fact, dict[str, Any], bool | None]],
        test: conditions.Filter | None = None,
    ) -> Iterator[HeldMemory]:
        """Those of these facts that the ids and the filter ask for."""
        known = self._details.of(owner)
        for fact, more, is_cut in facts:
            if not fact.scope.is_real:
                continue
            line = line_of(session, fact)
            details = known.get(line[0].id, {})
            payload = payload_of(fact, line[0], owner, details)
            if belongs(ids, owner, details) and (test is None or test(payload)):
                yield HeldMemory(fact, line, details, payload, more, is_cut)

    def _told(
        self,
        session: Session,
        owner: str,
        held: Iterable[HeldMemory],
        most: int,
        memory_id: str | None = None,
    ) -> list[dict[str, Any]]:
        """Memories as they are given back, without what no longer holds in their texts."""
        chosen = list(islice(held, most))
        texts = zip(chosen, shown_texts(session, chosen), strict=True)
        return [
            item_of(
                memory_id or self._finder.id_of(one.root, owner),
                text,
                one.payload,
                one.details,
                **one.more,
            )
            for one, text in texts
            if text is not None
        ]

    # the end

    def close(self) -> None:
        """Release the store, if it was opened here."""
        if self._is_ours:
            self._memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
