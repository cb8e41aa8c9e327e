"""The pages as routes of the service."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from incumbent.http.configuration import Service
from incumbent.http.credentials import Grant
from incumbent.http.door import Door, Endpoint, refused
from incumbent.http.problems import Refusal
from incumbent.http.turns import Caller
from incumbent.inspector import browsers, rendering
from incumbent.inspector.looking import Looking
from incumbent.inspector.views import ROUTES
from incumbent.inspector.visit import (
    HOME,
    Download,
    Redirect,
    Result,
    Route,
    Unchanged,
    Visit,
    WebPage,
    address,
)
from incumbent.model.keys import KeyScope

_FORM = "application/x-www-form-urlencoded"
_LONG = "public, max-age=31536000, immutable"

Add = Callable[[str, str, Endpoint], None]


def register(door: Door, add: Add) -> None:
    """Add the pages to a service."""
    for view in ROUTES:
        # The first page has two addresses, because people write both.
        for path in (f"{HOME}/{view.path}",) if view.path else (HOME, f"{HOME}/"):
            add(path, "POST" if view.action else "GET", _endpoint(door, view))
    add("/", "GET", _led_home)
    for name in rendering.STATIC:
        add(f"{HOME}/static/{name}", "GET", _static(name))


async def _led_home(request: Request) -> Response:
    """Lead on to the pages: cookies come to their address alone."""
    return RedirectResponse(HOME, 303, browsers.HEADERS)


def _static(name: str) -> Endpoint:
    async def given(request: Request) -> Response:
        response = Response(rendering.static(name), media_type=rendering.STATIC[name])
        response.headers["Cache-Control"] = _LONG
        response.headers.update(browsers.HEADERS)
        return response

    return given


def _endpoint(door: Door, view: Route) -> Endpoint:
    async def shown(request: Request) -> Response:
        token = browsers.token_of(request)
        request_id = request.state.request_id
        try:
            browsers.check_site(request)
            shown = browsers.credential_of(request)
            caller = await _caller(door, shown)
            async with door.turns.under_way(caller):
                form = await _form(door, view, request, shown)
                visitor = _Visitor(door, view, request, form, token, shown)
                result, text = await door.work(caller, visitor.answered)
        except ClientDisconnect:
            raise
        except Exception as error:
            result, text = _failed(door, request, token, refused(error, request_id))
        response = _response(result, text)
        browsers.keep(request, response, token, result)
        response.headers.update(browsers.HEADERS)
        return response

    return shown


async def _caller(door: Door, shown: str | None) -> Caller | None:
    """Who takes a turn. A key that counts no more is nobody's: its visitor is sent to sign in."""
    try:
        return await door.caller(shown)
    except Refusal as refusal:
        if refusal.status == 401:
            return None
        raise


async def _form(door: Door, view: Route, request: Request, shown: str | None) -> dict[str, str]:
    if not view.action:
        return {}
    form = browsers.fields_of(await door.body(request, _FORM, shown))
    browsers.check_token(request, form)
    return form


class _Visitor:
    """A visitor at the door: let in for what the view takes, shown it, or sent to sign in."""

    def __init__(
        self,
        door: Door,
        view: Route,
        request: Request,
        form: dict[str, str],
        token: str,
        shown: str | None,
    ) -> None:
        self._door = door
        self._view = view
        self._request = request
        self._form = form
        self._token = token
        self._shown = shown

    def answered(self) -> tuple[Result, str]:
        """The result of the view, rendered. Runs on a thread."""
        view = self._view
        if view.path == "enter":
            return self._entered()
        grant = self._grant()
        if grant is None:
            return Redirect(address("enter", to=_here(self._request))), ""
        visit = self._visit(grant)
        if view.needs_person and not visit.looking.user_id:
            return Redirect(address("who", to=_here(self._request))), ""
        return self._made(visit)

    def _entered(self) -> tuple[Result, str]:
        """The page at the door is for those who are not in yet: it looks at their key itself."""
        desk = self._door.desk
        if self._view.action:
            shown = f"Bearer {self._form.get('key', '').strip()}"
            return self._made(self._visit(desk.admit(shown, KeyScope.READ)))
        return self._made(self._visit(_NOBODY))

    def _grant(self) -> Grant | None:
        """The rights of the credential; None where one is needed and there is none that counts."""
        try:
            return self._door.desk.admit(self._shown, self._view.scope)
        except Refusal as refusal:
            if refusal.status == 401 and not self._view.action:
                return None
            raise

    def _visit(self, grant: Grant) -> Visit:
        return visit_of(self._door, self._request, self._form, self._token, grant)

    def _made(self, visit: Visit) -> tuple[Result, str]:
        result = self._view.make(visit)
        return result, rendering.render(visit, result) if isinstance(result, WebPage) else ""


_NOBODY = Grant(
    name="nobody",
    organization="",
    scopes=(),
    max_authority="guest",
    permissions=frozenset(),
)


def visit_of(door: Door, request: Request, form: dict[str, str], token: str, grant: Grant) -> Visit:
    """The visit that a request is."""
    return Visit(
        memory=door.memory,
        grant=grant,
        looking=_looking(door, request, grant),
        path=request.url.path,
        asked=dict(request.query_params),
        form=form,
        token=token,
        is_part=request.headers.get("hx-request") is not None,
        said=browsers.said_to(request),
        max_budget=door.desk.max_budget or Service.max_budget,
    )


def _looking(door: Door, request: Request, grant: Grant) -> Looking:
    if grant is _NOBODY:
        return Looking()
    return browsers.looking_of(request, door.service.looks_as).bounded(grant)


def _here(request: Request) -> str:
    query = request.url.query
    return f"{request.url.path}{'?' + query if query else ''}"


def _failed(door: Door, request: Request, token: str, refusal: Refusal) -> tuple[WebPage, str]:
    """A page that tells what went wrong and what to do. It shows nothing of the memory."""
    page = WebPage("problem.html", {"refusal": refusal, "here": ""}, refusal.status)
    return page, rendering.render(visit_of(door, request, {}, token, _NOBODY), page)


def _response(result: Result, text: str) -> Response:
    if isinstance(result, Redirect):
        return RedirectResponse(result.to, 303)
    if isinstance(result, Download):
        response = Response(result.content, media_type=result.media_type)
        response.headers["Content-Disposition"] = f'attachment; filename="{result.name}"'
        return response
    if isinstance(result, Unchanged):
        return Response(status_code=204)
    # A cookie may hold halves of characters, which no page can carry.
    content = text.encode("utf-8", "replace")
    return Response(content, result.status, media_type="text/html; charset=utf-8")
