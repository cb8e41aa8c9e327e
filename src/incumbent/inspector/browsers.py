"""Browsers: their cookies, and the checks against what other pages make them send."""

from __future__ import annotations

import base64
import hmac
import json
import secrets
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from incumbent.http.configuration import is_here
from incumbent.http.problems import Refusal
from incumbent.inspector.looking import Looking
from incumbent.inspector.visit import HOME, Redirect

_KEY, _LOOKING, _TOKEN, _SAID = (
    "incumbent_key",
    "incumbent_looking",
    "incumbent_token",
    "incumbent_said",
)
_LONGEST_KEY = 4_000
_LONGEST_SAID = 600
_MOST_FIELDS = 200
_HALF_A_DAY = 12 * 3600
_MOMENT = 60

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",  # with none at all, forms come from nowhere
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
"""On every page: nothing from elsewhere, nothing inline, in nobody's frame."""


def credential_of(request: Request) -> str | None:
    """The credential that the browser keeps, as a header would have it."""
    kept = request.cookies.get(_KEY, "")
    return f"Bearer {kept}" if kept else None


def looking_of(request: Request, otherwise: Mapping[str, str]) -> Looking:
    """Whom the visitor chose to look as, or whom the service names."""
    kept = request.cookies.get(_LOOKING, "")
    return Looking.kept(kept) if kept else Looking.of(otherwise)


def token_of(request: Request) -> str:
    """What forms must bring back: the browser's own, or a new one."""
    kept = request.cookies.get(_TOKEN, "")
    return kept if len(kept) == 43 and kept.isascii() else secrets.token_urlsafe(32)


def said_to(request: Request) -> Mapping[str, str]:
    """What the action before has to say, once."""
    try:
        found = json.loads(base64.urlsafe_b64decode(request.cookies.get(_SAID, "").encode()))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: found[name] for name in ("text", "undo") if isinstance(found.get(name), str)}


def fields_of(body: bytes) -> dict[str, str]:
    """The fields of a form; of a field that is there twice, the last."""
    try:
        found = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise Refusal(400, "InvalidInput", "the form cannot be read; send it again") from None
    return dict(found)


def check_site(request: Request) -> None:
    """Refuse what another page makes the browser send, as far as the browser says so.

    A link may lead here from anywhere. What a page loads into itself it could not read, but it
    could measure how long it takes, and have it made again and again.
    """
    sent = request.headers
    elsewhere = sent.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")
    if request.method in ("GET", "HEAD"):
        # Browsers that say where from also say what for.
        followed = (sent.get("sec-fetch-mode"), sent.get("sec-fetch-dest"))
        if elsewhere and followed != ("navigate", "document"):
            raise Refusal(403, "NotPermitted", "another page asked for this; open it by itself")
        return
    origin = sent.get("origin")
    if elsewhere or (origin is not None and _netloc(origin) != sent.get("host", "").lower()):
        raise Refusal(403, "NotPermitted", "another page sent this form; nothing was done")


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:  # a bracket that is not closed
        return None


def check_token(request: Request, form: Mapping[str, str]) -> None:
    """Refuse a form without the token, which only a page of ours knows."""
    kept = request.cookies.get(_TOKEN, "")
    if not kept or not hmac.compare_digest(kept.encode(), form.get("token", "").encode()):
        raise Refusal(
            403,
            "NotPermitted",
            "the form does not come from this page, or the browser forgot a cookie; nothing was "
            "done. Open the page again and repeat it",
        )


def keep(request: Request, response: Response, token: str, result: object) -> None:
    """Give the browser what it is to keep for us."""
    _set(request, response, _TOKEN, token, _HALF_A_DAY)
    if not isinstance(result, Redirect):
        if _SAID in request.cookies and request.headers.get("hx-request") is None:
            response.delete_cookie(_SAID, path=HOME)
        return
    if result.looking is not None:
        _set(request, response, _LOOKING, result.looking.text(), None)
    if result.credential is not None:
        if len(result.credential) > _LONGEST_KEY:
            raise Refusal(422, "InvalidInput", "that is too long for a key or a token")
        if result.credential:
            _set(request, response, _KEY, result.credential, _HALF_A_DAY)
        else:
            response.delete_cookie(_KEY, path=HOME)
            response.delete_cookie(_LOOKING, path=HOME)
    if result.said:
        said = {"text": result.said[:_LONGEST_SAID], "undo": result.undo}
        _set(request, response, _SAID, _packed(said), _MOMENT)


def _packed(said: Mapping[str, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(said).encode()).decode()


def _set(request: Request, response: Response, name: str, value: str, seconds: int | None) -> None:
    """Keep a cookie out of reach of scripts and other sites; on another machine only over TLS."""
    response.set_cookie(
        name,
        value,
        max_age=seconds,
        path=HOME,
        httponly=True,
        samesite="lax",
        secure=not is_here(request.headers.get("host", "")),
    )
