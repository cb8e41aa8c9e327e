"""Operations: from the bytes of a request to the bytes of an answer, on a thread of their own.

Everything here is plain code without a network: a credential, a body, an answer or an error.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, Field, create_model

from incumbent.client import encoding
from incumbent.http.admission import SessionForm, check_title, enter, organization_of
from incumbent.http.credentials import HERE, Gate, Grant
from incumbent.http.limits import Answer, Answers, Rates
from incumbent.http.problems import Refusal
from incumbent.http.receipts import check_receipts
from incumbent.http.turns import METER
from incumbent.memory import Memory
from incumbent.model.errors import DuplicateId, InvalidInput, NotPermitted
from incumbent.model.keys import KeyScope
from incumbent.model.records import Rehearsed
from incumbent.model.verdict import Action, Verdict
from incumbent.operations import OPERATIONS, Operation
from incumbent.session import Session

_LONGEST_KEY = 200
_KEY = re.compile(rf"[!-~]{{1,{_LONGEST_KEY}}}")
_TIMED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_OF_A_PERSON = ("receipt", "replay", "compare")
"""Operations of a memory about contexts that one person was shown."""


@cache
def request_form(operation: Operation) -> type[BaseModel]:
    """The form of a request: the session, and the arguments of the operation."""
    arguments = encoding.arguments_of(operation)
    session: Any = (SessionForm, Field(default_factory=SessionForm.model_construct))
    title = arguments.__name__.removesuffix("Arguments")
    return create_model(f"{title}Request", __base__=arguments, session=session)


def make_forms() -> None:
    """Make the forms of all requests and answers in advance, so that no call has to wait for its
    own."""
    for operation in OPERATIONS:
        request_form(operation)
        encoding.adapter(operation.returns)


class Desk:
    """Carries out operations for callers."""

    def __init__(self, memory: Memory, gate: Gate, rates: Rates, answers: Answers) -> None:
        self.memory = memory
        self._gate = gate
        self._rates = rates
        self._answers = answers
        self.most: Mapping[str, int] = {}
        """The most items that one call may bring, by kind."""
        self.max_budget: int | None = None

    def admit(self, authorization: str | None, scope: KeyScope) -> Grant:
        """Let a caller in for that scope, or refuse."""
        grant = self._gate.admit(authorization)
        if grant is not HERE:
            self._rates.take(grant.name)
        grant.check(scope)
        return grant

    def wait(self, authorization: str | None, scope: KeyScope) -> float:
        """Let a caller in within a stream: return seconds to wait instead of a refusal for
        haste."""
        grant = self._gate.admit(authorization)
        grant.check(scope)
        return 0.0 if grant is HERE else self._rates.wait(grant.name)

    def perform(
        self,
        operation: Operation,
        authorization: str | None,
        body: bytes,
        idempotency_key: str | None = None,
    ) -> tuple[bytes, bool]:
        """The answer to a request as JSON, and whether it was given before."""
        grant = self.admit(authorization, operation.scope)
        # Strict all the way down: also in what has no form of ours, such as a source.
        form = request_form(operation).model_validate_json(body or b"{}", strict=True)
        self._check_size(form)
        if idempotency_key is None or not operation.changes:
            return self._answered(operation, grant, form, None), False
        return self._once(operation, grant, form, body, idempotency_key)

    def _check_size(self, form: BaseModel) -> None:
        """Refuse a call that would take long: its rest can come in another call."""
        for name, most in self.most.items():
            given = len(getattr(form, name, ()) or ())
            if given > most:
                raise InvalidInput(
                    f"{given:,} {name} in one call, and the limit is {most:,}; split them into "
                    f"several calls, or send turns to /v1/observe/stream, a line each"
                )
        budget = getattr(form, "budget", None)
        if self.max_budget is not None and budget is not None and budget > self.max_budget:
            raise InvalidInput(
                f"/budget: {budget:,} tokens, and the limit is {self.max_budget:,}; ask for less, "
                f"or have the service started with --max-budget"
            )

    def _once(
        self, operation: Operation, grant: Grant, form: BaseModel, body: bytes, key: str
    ) -> tuple[bytes, bool]:
        if not _KEY.fullmatch(key):
            raise Refusal(
                422,
                "InvalidInput",
                f"an Idempotency-Key has from 1 to {_LONGEST_KEY} letters, digits or signs (ASCII)",
            )
        digest = hashlib.sha256(operation.path.encode() + b"\0" + body).hexdigest()
        known = self._answers.begin(grant.name, key, digest)
        if known is not None:
            self._check_still_allowed(known, grant)
            self._check_nothing_erased(known, grant, form)
            return known.body, True
        answer = None
        try:
            answer = self._answered(operation, grant, form, _name_of(grant.name, key, digest))
        finally:
            self._answers.end(grant, key, digest, answer, self.memory.now())
        return answer, False

    def _check_still_allowed(self, known: Answer, grant: Grant) -> None:
        """Refuse a kept answer to a credential with fewer rights than the one it was given to.

        An answer shows what a credential could see then. A credential with as many rights may make
        the same request again.
        """
        if not _reaches(self.memory, grant, known.grant):
            raise Refusal(
                403,
                "NotPermitted",
                "this was done before; its answer is not given again, because the credential was "
                "good for more then",
            )

    def _check_nothing_erased(self, known: Answer, grant: Grant, form: BaseModel) -> None:
        """Refuse a kept answer if something was erased since, here or by another process: the
        answer may hold it."""
        organization = organization_of(grant, form.session)  # type: ignore[attr-defined]
        if any(one.at > known.told for one in self.memory.store.erasures(organization)):
            raise Refusal(
                409,
                "AnswerErased",
                "this was done before; its answer is not given again, because something was "
                "erased since",
            )

    def _answered(
        self, operation: Operation, grant: Grant, form: BaseModel, once: str | None
    ) -> bytes:
        result = self._called(operation, grant, form, once)
        return encoding.dumped(operation.returns, result)

    def _called(self, operation: Operation, grant: Grant, form: BaseModel, once: str | None) -> Any:
        who: SessionForm = form.session  # type: ignore[attr-defined]
        arguments = encoding.given(form)
        arguments.pop("session", None)
        if operation.owner == "memory":
            return self._of_memory(operation, grant, who, arguments)
        session = enter(self.memory, grant, who)
        if operation.rehearsed:
            session = session.rehearsal()
            result = getattr(session, operation.name)(**arguments)
            return Rehearsed(result, session.changes)
        if operation.is_property:
            return getattr(session, operation.name)
        if once is not None and operation.name in _REPEATABLE:
            return _REPEATABLE[operation.name](session, arguments, once)
        if operation.name == "observe_many":
            return _observe_many(session, arguments["turns"])
        return getattr(session, operation.name)(**arguments)

    def _of_memory(
        self, operation: Operation, grant: Grant, who: SessionForm, arguments: dict[str, Any]
    ) -> Any:
        organization = organization_of(grant, who)
        call = getattr(self.memory, operation.name)
        if operation.name == "forget":
            arguments = _own(grant, who, arguments)
        if operation.name in _OF_A_PERSON:
            check_receipts(self.memory, grant, who, arguments.values())
        if operation.name == "declare":
            _check_operator(grant)
            check_title(self.memory, arguments.get("write_authority"), "/write_authority")
            return call(**arguments)
        return call(**arguments, organization=organization)


def _reaches(memory: Memory, grant: Grant, before: Grant) -> bool:
    """Whether a credential has all the rights of another one."""
    permitted = grant.permissions is None or (
        before.permissions is not None and grant.permissions >= before.permissions
    )
    return (
        (grant.organization, grant.user_id) == (before.organization, before.user_id)
        and grant.department == before.department
        and set(grant.scopes) >= set(before.scopes)
        and _stands_as_high(memory, grant.max_authority, before.max_authority)
        and permitted
    )


def _stands_as_high(memory: Memory, most: str | None, before: str | None) -> bool:
    """Whether an authority is at least another one. None stands for any."""
    if most is None or before is None:
        return most is None
    ladder = memory.settings.ladder
    lowest = ladder.rungs[0]  # stands for a rung that left the ladder since
    return not ladder.outranks(ladder.known(before) or lowest, ladder.known(most) or lowest)


def _own(grant: Grant, who: SessionForm, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a `forget`: an admin may erase anything, a person's credential only that
    person's own.

    The same holds for a credential of nobody in particular that names the person it asks for.
    """
    person = grant.user_id or who.user_id
    if KeyScope.ADMIN in grant.scopes or person is None:
        return arguments
    named = (who.user_id, arguments.get("user_id"), arguments.get("by"))
    if any(name not in (None, person) for name in named):
        raise NotPermitted("the credential is for another person")
    return {**arguments, "user_id": person, "by": person}


def _check_operator(grant: Grant) -> None:
    """Refuse a declaration: it holds for every organization, and a credential is for one."""
    if grant.organization is not None:
        raise Refusal(
            403,
            "NotPermitted",
            "declarations hold for every organization, and the credential is for one; "
            "run `incumbent declare` where the memory is",
        )


def _name_of(caller: str, key: str, digest: str) -> str:
    """A name for the results that a request stores, by which a repetition of it is recognized.

    A key that begins with a moment, as those of our client do (UUIDv7), gives a name that does too:
    names in the order of time keep an index small.
    """
    made = hashlib.sha256(f"{caller}\0{key}\0{digest}".encode()).hexdigest()
    time = key.replace("-", "")[:12] if _TIMED.fullmatch(key) else made[:12]
    return f"{time[:8]}-{time[8:]}-7{made[13:16]}-8{made[17:20]}-{made[20:32]}"


def _observe_once(session: Session, arguments: Mapping[str, Any], name: str) -> Any:
    """Observe under a ref of the request: the same turn with the same ref changes nothing."""
    return session.observe(**_named(arguments, "ref", name))


def _observe_many_once(session: Session, arguments: Mapping[str, Any], name: str) -> Any:
    turns = [
        turn if turn.get("id") is not None else _named(turn, "ref", f"{name}-{number}")
        for number, turn in enumerate(arguments["turns"])
    ]
    return _observe_many(session, turns)


def _observe_many(session: Session, turns: Sequence[Mapping[str, Any]]) -> Any:
    """Observe turn by turn, with a rest in between if others are waiting."""
    meter = METER.get()
    return session.observe_many(turns, progress=None if meter is None else meter.pace)


def _write_once(session: Session, arguments: Mapping[str, Any], name: str) -> Any:
    """Write under an id of the request; if that fact exists already, return its verdict."""
    try:
        return session.write(**_named(arguments, "id", name))
    except DuplicateId:
        found = None if arguments.get("id") is not None else _brought(session, name)
        if found is None:
            raise
        return found


def _write_many_once(session: Session, arguments: Mapping[str, Any], name: str) -> Any:
    """Write several facts under ids of the request; all of them are there or none."""
    writes = [
        _named(write, "id", f"{name}-{number}") for number, write in enumerate(arguments["writes"])
    ]
    try:
        return session.write_many(writes)
    except DuplicateId:
        if any(write.get("id") is not None for write in arguments["writes"]):
            raise
        found = [_brought(session, write["id"]) for write in writes]
        if None in found:
            raise
        return found


def _named(arguments: Mapping[str, Any], field: str, name: str) -> dict[str, Any]:
    """The arguments, with a name of ours if the caller gave none."""
    return dict(arguments) if arguments.get(field) is not None else {**arguments, field: name}


def _brought(session: Session, fact_id: str) -> Verdict | None:
    """The verdict that brought a fact."""
    found = (v for v in session.explain(fact_id).verdicts if v.action is Action.ASSERT)
    return next(found, None)


_REPEATABLE = {
    "observe": _observe_once,
    "observe_many": _observe_many_once,
    "write": _write_once,
    "write_many": _write_many_once,
}
