"""Headers: who is speaking, and what is passed on of a request and of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from incumbent.http.admission import SessionForm
from incumbent.model.errors import InvalidInput
from incumbent.model.modes import Mode, check_mode

Headers = Sequence[tuple[bytes, bytes]]
_PREFIX = b"x-incumbent-"
KEY = "x-incumbent-key"
RECEIPT = b"x-incumbent-receipt"
UNGUARDED = b"x-incumbent-unguarded"
ERASURE_REQUESTED = b"x-incumbent-erasure-requested"
DEFAULT_SESSION = "proxy"
_PERMISSIONS = "x-incumbent-permissions"
_MODE = "x-incumbent-mode"
_ASK = "x-incumbent-ask-before-keeping"
_YES_OR_NO = {"true": True, "false": False}
_FIELDS = {
    "x-incumbent-organization": "organization",
    "x-incumbent-user": "user_id",
    "x-incumbent-user-name": "user_name",
    "x-incumbent-session": "session_id",
    "x-incumbent-authority": "authority",
    "x-incumbent-department": "department",
    "x-incumbent-task": "task_id",
}
_KNOWN = (*_FIELDS, _PERMISSIONS, _MODE, _ASK, KEY)
# RFC 9110, 7.6.1: they are about one connection, and we have two.
_HOP_BY_HOP = frozenset(
    {
        *(b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer"),
        *(b"transfer-encoding", b"upgrade", b"proxy-authenticate", b"proxy-authorization"),
    }
)
_OURS_TO_SAY = frozenset({b"host", b"expect"})


class SpeakerForm(SessionForm):
    """Who is speaking, and what the proxy is to do with what they say."""

    mode: Mode | None = None


def says_who(headers: Headers) -> bool:
    """Whether a request is meant for the memory. One that says anything to us is: a misspelt
    header must not let a request pass unguarded."""
    return any(_is_ours(name) for name, _ in headers)


def asked_by(headers: Headers) -> tuple[SpeakerForm, str | None]:
    """Who is speaking, by the headers of a request, and the credential that is shown for it."""
    found: dict[str, str] = {}
    for raw, value in headers:
        name = raw.lower().decode("latin-1")
        if not _is_ours(raw):
            continue
        if name not in _KNOWN:
            raise InvalidInput(f"{name!r:.80} is no header of ours; there are {', '.join(_KNOWN)}")
        if name in found:
            raise InvalidInput(f"{name} comes twice; send it once")
        found[name] = _text(name, value)
    key = found.pop(KEY, None)
    fields: dict[str, Any] = {_FIELDS[name]: found[name] for name in found if name in _FIELDS}
    fields.setdefault("session_id", DEFAULT_SESSION)
    if _PERMISSIONS in found:
        listed = (one.strip() for one in found[_PERMISSIONS].split(","))
        fields["permissions"] = [one for one in listed if one]
    if _MODE in found:
        fields["mode"] = check_mode(found[_MODE].lower(), _MODE)
    if _ASK in found:
        if found[_ASK].lower() not in _YES_OR_NO:
            raise InvalidInput(f"{_ASK} is true or false, not {found[_ASK]!r:.80}")
        fields["ask_before_keeping"] = _YES_OR_NO[found[_ASK].lower()]
    return SpeakerForm(**fields), None if key is None else f"Bearer {key}"


def _is_ours(name: bytes) -> bool:
    # Some servers take "_" for "-", and so do people.
    return name.lower().replace(b"_", b"-").startswith(_PREFIX)


def _text(name: str, value: bytes) -> str:
    try:
        text = value.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise InvalidInput(f"{name} is not UTF-8; encode it so") from None
    if not text:
        raise InvalidInput(f"{name} is empty; give it a value or leave it out")
    if not text.isprintable():
        raise InvalidInput(f"{name} has characters that cannot be printed; leave them out")
    return text


def in_headers(message: str) -> str:
    """A message about a field of a session, with the header that has it here."""
    for name, held in _FIELDS.items():
        message = message.replace(f"/session/{held}", name)
    return message


def to_upstream(headers: Headers, *, rewritten: bool) -> list[tuple[bytes, bytes]]:
    """The headers of a request as the provider gets them: all but ours and the connection's.

    A request whose body is ours has another length, and its answer has to be readable for us.
    """
    left = _OURS_TO_SAY | _named_by_connection(headers)
    if rewritten:
        left |= {b"content-length", b"accept-encoding"}
    kept = [
        (name, value) for name, value in headers if name.lower() not in left and not _is_ours(name)
    ]
    return [*kept, (b"accept-encoding", b"identity")] if rewritten else kept


def to_client(headers: Headers, *added: tuple[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer as the application gets them, and those that we add.

    The date is said by the server that sends it. Nobody else speaks in our name.
    """
    left = _named_by_connection(headers) | {b"date"}
    kept = [
        (name.lower(), value)
        for name, value in headers
        if name.lower() not in left and not _is_ours(name)
    ]
    return [*kept, *added]


def value_of(headers: Headers, wanted: bytes) -> bytes:
    """The value of a header, b"" if there is none."""
    return next((value for name, value in headers if name.lower() == wanted), b"")


def _named_by_connection(headers: Headers) -> frozenset[bytes]:
    named: Iterable[bytes] = (
        one.strip().lower()
        for name, value in headers
        if name.lower() == b"connection"
        for one in value.split(b",")
    )
    return _HOP_BY_HOP | frozenset(named)
