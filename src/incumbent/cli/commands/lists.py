"""Commands that list, by pages: list users, sessions, subjects, keys, facts and so on."""

from __future__ import annotations

from typing import Any

import incumbent
from incumbent.cli.commands.write import SUBJECT
from incumbent.cli.declaring import CommandGroup, argument, command, flag, option, options
from incumbent.cli.options import ORGANIZATION, Asker, Common, When
from incumbent.cli.paging import WHICH, Columns, Paging, Span, print_page
from incumbent.cli.tables import clock
from incumbent.context.quotes import inline
from incumbent.context.rendering import name_of
from incumbent.words import cut, shown, standing

GROUP = CommandGroup(
    "list",
    """List what an organization has, by pages.

\b
Examples:
  incumbent list sessions
  incumbent list subjects --prefix order-
  incumbent list facts --text oak --any-state
  incumbent list users --org acme
  incumbent list sessions --org acme --all
  incumbent list receipts --org acme --of alice --since 2026-03-02T00:00:00+00:00

Sessions, turns and receipts are your own; facts, their subjects, keys and branches are those that
you may see. With --all, sessions, receipts, subjects and keys are everybody's, as users and audit
are always: that is for those who answer for an organization, and takes the scope admin behind a
service.
""",
)
_LONGEST = 60


def _cut(text: str) -> str:
    return cut(inline(text), _LONGEST)


def _whose(one: Any) -> str:
    return shown(one.owner) if one.owner else "(organization)"


def _content(one: incumbent.AuditEntry) -> str:
    if one.content is None:
        return ""
    about = shown(one.content.value)
    key = one.content.key
    return _cut("(erased)" if one.content.erased else f"{key}: {about}" if key else about)


_USERS: Columns = {
    "user": lambda one: shown(one.user_id),
    "facts in office": lambda one: f"{one.facts:,}",
    "sessions": lambda one: f"{one.sessions:,}",
    "last decision (UTC)": lambda one: clock(one.last_at, "never"),
}
_SESSIONS: Columns = {
    "session": lambda one: shown(one.session_id),
    "user": lambda one: shown(one.user_id),
    "began (UTC)": lambda one: clock(one.started_at),
    "last turn (UTC)": lambda one: clock(one.last_at),
    "turns": lambda one: f"{one.turns:,}",
}
_SUBJECTS: Columns = {
    "subject": lambda one: shown(one.subject) if one.subject else "(as said)",
    "of": _whose,
    "facts in office": lambda one: f"{one.facts:,}",
    "keys": lambda one: f"{one.keys:,}",
    "newest (UTC)": lambda one: clock(one.last_at),
}
_KEYS: Columns = {
    "key": lambda one: shown(one.key) if one.key else "(as said)",
    "of": _whose,
    "facts in office": lambda one: f"{one.facts:,}",
    "subjects": lambda one: f"{one.subjects:,}",
    "newest (UTC)": lambda one: clock(one.last_at),
}
_RECEIPTS: Columns = {
    "id": lambda one: one.id,
    "kept (UTC)": lambda one: clock(one.kept_at),
    "for": lambda one: shown(one.user_id),
    "query": lambda one: _cut(one.query),
    "tokens": lambda one: f"{one.tokens:,} of {one.budget:,}",
    "facts": lambda one: f"{one.facts:,}",
}
_ENTRIES: Columns = {
    "entry": lambda one: str(one.seq),
    "recorded (UTC)": lambda one: clock(one.recorded_at),
    "by": lambda one: shown(one.by),
    "action": lambda one: one.action.value,
    "outcome": lambda one: one.outcome.value,
    "rule": lambda one: one.rule.value,
    "fact": lambda one: one.fact_id,
}
_FACTS: Columns = {
    "recorded (UTC)": lambda one: clock(one.recorded_at),
    "status": standing,
    "key": lambda one: _cut(name_of(one)),
    "value": lambda one: shown(one.value),
    "of": _whose,
    "by": lambda one: one.authority,
    "id": lambda one: one.id,
}
_BRANCHES: Columns = {
    "kind": lambda one: one.kind.value,
    "name": lambda one: shown(one.name),
    "facts in office": lambda one: f"{one.facts:,}",
    "newest (UTC)": lambda one: clock(one.last_at),
}
_TURNS: Columns = {
    "turn": lambda one: str(one.turn_index),
    "said (UTC)": lambda one: clock(one.at),
    "speaker": lambda one: shown(one.speaker),
    "ref": lambda one: "" if one.ref is None else shown(one.ref),
    "facts": lambda one: f"{len(one.fact_ids):,}",
    "verdicts": lambda one: f"{len(one.verdict_ids):,}",
    "words": lambda one: "" if one.text is None else _cut(one.text),
}


@options(WHICH)
class Whose:
    """One's own lines, or everybody's."""

    everybody: bool = flag("Those of everybody.", "--all")
    of: str | None = option(
        "ID",
        "Those of one user, whoever asks; for subjects and keys, '' is the organization's own.",
    )

    def page(
        self, common: Common, who: Asker, name: str, owner: str = "user_id", **asked: Any
    ) -> incumbent.Listing[Any]:
        """The page by the operation of that name, of a session or of the memory; `owner` is what
        the memory calls the one user."""
        with common.open() as memory:
            if not (self.everybody or self.of is not None):
                page: incumbent.Listing[Any] = getattr(who.at(memory), name)(**asked)
            else:
                page = getattr(memory, name)(who.organization, **{owner: self.of}, **asked)
            return page


_PREFIX = option("TEXT", "Only names that begin with this.", default="", panel=WHICH)


@command("list users --org acme", "list users --org acme --prefix al --json")
def users(
    *,
    prefix: str = _PREFIX,
    paging: Paging,
    organization: str = ORGANIZATION,
    common: Common,
) -> None:
    """List the users of an organization, in the order of their ids.

    Whoever owns a fact, brought a decision about, was observed, or has a receipt.
    """
    with common.open() as memory:
        page = memory.list_users(organization, prefix=prefix, **paging.asked)
    print_page(page, common, _USERS)


@command("list sessions --user alice --org acme", "list sessions --org acme --all --limit 20")
def sessions(*, span: Span, reach: Whose, paging: Paging, who: Asker, common: Common) -> None:
    """List the sessions in which a turn was observed, the last begun first.

    --since and --until go by the beginning of a session.
    """
    page = reach.page(common, who, "list_sessions", **span.asked, **paging.asked)
    print_page(page, common, _SESSIONS)


@command("list subjects --prefix order-", "list subjects --org acme --of alice --json")
def subjects(
    *, prefix: str = _PREFIX, reach: Whose, paging: Paging, who: Asker, common: Common
) -> None:
    """List the subjects of facts in office, by owner and name."""
    page = reach.page(common, who, "list_subjects", "owner", prefix=prefix, **paging.asked)
    print_page(page, common, _SUBJECTS)


@command("list keys --prefix order_", "list keys --org acme --all --json")
def keys(
    *, prefix: str = _PREFIX, reach: Whose, paging: Paging, who: Asker, common: Common
) -> None:
    """List the keys of facts in office, by owner and name.

    Facts that were kept as they were said have none: they are counted as (as said).
    The keys that let programs in are another matter: incumbent keys list.
    """
    page = reach.page(common, who, "list_keys", "owner", prefix=prefix, **paging.asked)
    print_page(page, common, _KEYS)


@command("list receipts", "list receipts --org acme --all --since 2026-03-02T00:00:00+00:00")
def receipts(*, span: Span, reach: Whose, paging: Paging, who: Asker, common: Common) -> None:
    """List the receipts of contexts, the last kept first.

    --since and --until go by the moment at which a receipt was kept.
    """
    page = reach.page(common, who, "list_receipts", **span.asked, **paging.asked)
    print_page(page, common, _RECEIPTS)


@command("list audit --org acme --limit 20", "list audit --values --json")
def audit(
    *,
    values: bool = flag("Include keys, values and reasons."),
    paging: Paging,
    organization: str = ORGANIZATION,
    common: Common,
) -> None:
    """List the decisions of an organization, the last first.

    The whole log in its order, and what comes: incumbent audit.
    """
    with common.open() as memory:
        page = memory.list_audit(organization, values=values, **paging.asked)
    told: Columns = {"key and value": _content} if values else {}
    print_page(page, common, _ENTRIES | told)


@command("list facts --text oak", "list facts --key address --any-state --limit 20 --json")
def facts(
    *,
    text: str = option(
        "TEXT",
        "What the key, the subject or the value contains, in any letter case.",
        default="",
        panel=WHICH,
    ),
    key: str | None = option(
        "KEY", "Of this key; '' for those kept as they were said.", panel=WHICH
    ),
    subject: str | None = SUBJECT,
    state: list[str] | None = option(
        "STATUS",
        "In this state: office, superseded, retracted ...; repeatable.",
        shown="office",
        panel=WHICH,
    ),
    any_state: bool = flag("In whatever state.", panel=WHICH),
    scope: str | None = option("SCOPE", "In this scope: global, task, session.", panel=WHICH),
    memory_type: str | None = option(
        "TYPE", "Of this memory: user, capability, organizational.", panel=WHICH
    ),
    of_authority: str | None = option("TITLE", "Said with this authority.", panel=WHICH),
    needs_review: bool = flag("With a base that has changed.", panel=WHICH),
    span: Span,
    paging: Paging,
    when: When,
    who: Asker,
    common: Common,
) -> None:
    """List the facts that you may see, the last recorded first.

    Those in office, unless another state is asked for. --since and --until go by when a fact was
    recorded. The facts you go by, shadowed ones left out: incumbent facts.
    """
    with common.open() as memory:
        page = when.look(memory, who.at(memory)).list_facts(
            text=text,
            key=key,
            subject=subject,
            states=() if any_state else state or ("office",),
            scope=scope,
            memory_type=memory_type,
            authority=of_authority,
            needs_review=True if needs_review else None,
            **span.asked,
            **paging.asked,
        )
    print_page(page, common, _FACTS)


@command("list branches", "list branches --user alice --org acme --json")
def branches(*, paging: Paging, when: When, who: Asker, common: Common) -> None:
    """List the drafts and hypotheticals with facts in office that you may see."""
    with common.open() as memory:
        page = when.look(memory, who.at(memory)).list_branches(**paging.asked)
    print_page(page, common, _BRANCHES)


@command("list turns", "list turns chat-1 --user alice --org acme --json")
def turns(
    of_session: str | None = argument(
        "SESSION", "One of your sessions.", default=None, show_default="--session"
    ),
    *,
    paging: Paging,
    who: Asker,
    common: Common,
) -> None:
    """List the turns that were observed in one of your sessions, the first first.

    With what came of each as far as you may see it, and its words while they are on the desk.
    """
    with common.open() as memory:
        page = who.at(memory).list_turns(of_session, **paging.asked)
    print_page(page, common, _TURNS)
