"""The results of observing: printed turn by turn, added up, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.text import Text

import incumbent
from incumbent.cli.advice import opinion_document, opinion_lines, summary_lines
from incumbent.cli.root import remark
from incumbent.cli.tables import account_lines, print_json, show, word
from incumbent.cli.verdicts import print_verdict, rehearsed_document, verdict_document
from incumbent.model.errors import InvalidInput
from incumbent.model.verdict import Outcome
from incumbent.stores.codec import erasure_record, fact_record
from incumbent.words import account, shown, told, why


@dataclass
class Tally:
    """The results of the turns of a conversation."""

    file: str = ""
    session: str = ""
    turns: int = 0
    before: int = 0
    """Turns that had been observed before."""
    facts: int = 0
    """Real facts that took office."""
    proposed: int = 0
    """Facts in drafts and hypotheticals."""
    superseded: int = 0
    contested: int = 0
    overruled: int = 0
    retracted: int = 0
    erased: int = 0
    erasures_asked: int = 0
    """Turns that asked to erase everything of the speaker's own. The erasure was not done."""
    skipped: int = 0
    advised: int = 0
    """Turns on which a model has given its opinion."""

    def add(self, made: incumbent.Observation) -> None:
        self.turns += 1
        if made.repeated:
            self.before += 1
            return
        self.erasures_asked += made.erasure_requested is not None
        self.erased += sum(len(erasure.fact_ids) for erasure in made.erasures)
        for verdict in made.verdicts:
            self._count(verdict)

    def hear(self, opinion: incumbent.Opinion) -> None:
        """Count the results of a second opinion that arrived after its turn was counted."""
        self.advised += opinion.status == "given"
        for verdict in opinion.verdicts:
            self._count(verdict)

    def _count(self, verdict: incumbent.Verdict) -> None:
        outcome, fact = verdict.outcome, verdict.fact
        # A draft that is made real takes its own place, which is no supersession.
        self.superseded += len(verdict.superseded) - (outcome is Outcome.PROMOTED)
        self.contested += outcome is Outcome.CONTESTED
        self.overruled += outcome is Outcome.OVERRULED
        self.retracted += outcome is Outcome.RETRACTED and verdict.rule is not incumbent.Rule.COMMIT
        if fact is None or not fact.is_valid or outcome is Outcome.CONFIRMED:
            return
        if fact.scope in (incumbent.Scope.DRAFT, incumbent.Scope.HYPOTHETICAL):
            self.proposed += 1
        else:
            self.facts += 1

    def plus(self, other: Tally) -> Tally:
        """Both tallies added up."""
        counts = {
            name: getattr(self, name) + count
            for name, count in asdict(other).items()
            if isinstance(count, int)
        }
        return Tally(**counts)


def print_single(
    session: incumbent.Session, made: incumbent.Observation, *, as_json: bool, dry_run: bool = False
) -> None:
    """Print one turn with all its results, and the ids for the next commands."""
    if as_json:
        foreseen = rehearsed_document(session) if dry_run else {}
        print_json({**observation_document(made, session.session_id), **foreseen})
        return
    if made.repeated:
        show(f"observed before, as turn {made.turn_index}; nothing was changed")
        return
    for verdict in made.verdicts:
        print_verdict(session, verdict, as_json=False, dry_run=dry_run)
    for erasure in made.erasures:
        begin = "dry run: " if dry_run else ""
        show(Text.assemble(begin, word("erased"), f"  {len(erasure.fact_ids)} fact(s) for good"))
        if not dry_run:
            show(account_lines([("proof", erasure.id), ("digest", erasure.digest)]))
    if made.erasure_requested is not None:
        show(_not_erased(made.erasure_requested))
    elif not made.verdicts and not made.erasures:
        show("nothing to remember")
        if said := kinds_of(made):
            show(account_lines(said))
    if made.opinion is not None:
        show(account_lines(opinion_lines(made.opinion)))


def _not_erased(asked: incumbent.ErasureRequest) -> str:
    """A note that everything was asked to be erased and that it was not done, with the way to do
    it."""
    where = f"--organization {shown(asked.organization)}"
    return f"nothing was erased; that takes: incumbent forget --user {shown(asked.user_id)} {where}"


def kinds_of(made: incumbent.Observation) -> list[tuple[str, str]]:
    """The kind of each statement, which tells why it is no fact."""
    return [(one.kind.value.replace("_", " "), shown(one.text)) for one in made.statements]


def print_turn(session: incumbent.Session, made: incumbent.Observation, text: str) -> None:
    """One turn among many, without ids."""
    show(Text(f"turn {made.turn_index} ({shown(made.speaker)})  {shown(text)}", style="bold"))
    lines = list(_turn_lines(session, made))
    if lines:
        show(account_lines(lines))


def _turn_lines(
    session: incumbent.Session, made: incumbent.Observation
) -> Iterator[tuple[str, str]]:
    if made.repeated:
        yield "observed before", ""
        return
    for verdict in made.verdicts:
        about = told(verdict.fact) if verdict.fact is not None else verdict.fact_id
        yield verdict.outcome.value, f"{about}: {why(verdict)}"
        for label, text in account(verdict, session.get):
            yield "", f"{label} {text}"
    for erasure in made.erasures:
        yield "erased", f"{len(erasure.fact_ids)} fact(s) for good, proof {erasure.id}"
    if made.erasure_requested is not None:
        yield "asked for", _not_erased(made.erasure_requested)


def print_tallies(
    tallies: Sequence[Tally],
    observations: Sequence[dict[str, Any]] | None,
    *,
    dry_run: bool,
    as_json: bool,
    opinions: Sequence[incumbent.Opinion] = (),
) -> None:
    """Print the results of all conversations that were named."""
    total = total_of(tallies)
    if total.skipped and not total.turns:
        raise InvalidInput(f"nothing could be read: {total.skipped:,} passed over, and no turn")
    if as_json:
        counts = {name: count for name, count in asdict(total).items() if isinstance(count, int)}
        sessions = [asdict(tally) for tally in tallies]
        document = {**counts, "dry_run": dry_run, "sessions": sessions}
        print_json(document if observations is None else {**document, "observations": observations})
        return
    for empty in (tally for tally in tallies if not tally.turns + tally.skipped):
        remark(f"{empty.file} has no turns")
    if not total.turns:
        return
    before = f", {total.before:,} of them before" if total.before else ""
    show(f"{'would have ' if dry_run else ''}observed  {total.turns:,} turn(s){before}")
    show(account_lines([*_tally_lines(total, tallies), *summary_lines(opinions)]))


def total_of(tallies: Iterable[Tally]) -> Tally:
    total = Tally()
    for tally in tallies:
        total = total.plus(tally)
    return total


def _tally_lines(total: Tally, tallies: Sequence[Tally]) -> Iterator[tuple[str, str]]:
    yield "facts", f"{total.facts:,}"
    if total.proposed:
        yield "proposed", f"{total.proposed:,}"
    yield "superseded", f"{total.superseded:,}"
    yield "contested", f"{total.contested:,}{'; see: incumbent reviews' if total.contested else ''}"
    if total.overruled:
        yield "overruled", f"{total.overruled:,}"
    yield "retracted", f"{total.retracted:,}"
    yield "erased", f"{total.erased:,}"
    if total.erasures_asked:
        yield "not erased", f"{total.erasures_asked:,} asked for everything; see: incumbent forget"
    if total.skipped:
        yield "passed over", f"{total.skipped:,}"
    sessions = list(dict.fromkeys(tally.session for tally in tallies if tally.turns))
    if len(sessions) == 1:
        yield "session", shown(sessions[0])
    else:
        yield "sessions", f"{len(sessions):,}, one for each conversation"


def observation_document(
    made: incumbent.Observation, session_id: str, file: str | None = None
) -> dict[str, Any]:
    """The observation of a turn, as JSON."""
    return {
        "file": file,
        "session": session_id,
        "turn_index": made.turn_index,
        "speaker": made.speaker,
        "at": made.at.isoformat(),
        "ref": made.ref,
        "repeated": made.repeated,
        "statements": [
            {"kind": one.kind.value, "text": one.text, "start": one.start, "end": one.end}
            for one in made.statements
        ],
        "facts": [fact_record(fact) for fact in made.facts],
        "verdicts": [verdict_document(verdict) for verdict in made.verdicts],
        "retired": [part.text for part in made.retired],
        "erasures": [erasure_record(erasure) for erasure in made.erasures],
        "erasure_requested": None
        if made.erasure_requested is None
        else asdict(made.erasure_requested),
        "opinion": opinion_document(made.opinion),
    }
