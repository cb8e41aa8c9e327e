"""Verdicts in plain words, for people who have not read the glossary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from incumbent.context.document import Omission
from incumbent.context.quotes import inline, name
from incumbent.context.rendering import name_of
from incumbent.model.fact import Fact, Status
from incumbent.model.records import Explanation, Review
from incumbent.model.verdict import Outcome, Rule, Verdict

_LONGEST = 120
_PARTS = {"text": "words"}
_REASONS = {"quotes a dead value": "quoting a dead value", "needs review": "needing review"}

Find = Callable[[str], Fact | None]
"""Looks a fact up by its id; None if it may not be seen or was erased."""

_WHY: dict[tuple[Outcome, Rule], str] = {
    (Outcome.ESTABLISHED, Rule.FIRST): "nothing held this address",
    (Outcome.SUPERSEDED, Rule.IMPLICIT): "the same address received another value",
    (Outcome.SUPERSEDED, Rule.EXPLICIT): "it names the fact it replaces",
    (Outcome.SUPERSEDED, Rule.AUTHORITY): "it carries a higher authority",
    (Outcome.SUPERSEDED, Rule.TEMPORAL): "a newer reading replaces an older one",
    (Outcome.SUPERSEDED, Rule.REVIEW): "a review gave it a new value",
    (Outcome.SUPERSEDED, Rule.COMMIT): "what had been proposed was settled on",
    (Outcome.CONFIRMED, Rule.SAME_VALUE): "the fact in office already says so",
    (Outcome.CONFIRMED, Rule.REVIEW): "a review found it still right",
    (
        Outcome.SHADOWED,
        Rule.SCOPE,
    ): "it holds in its own scope; the wider one stays",
    (
        Outcome.CONTESTED,
        Rule.WEAK_EVIDENCE,
    ): "the evidence is too weak to retire a fact; a person decides",
    (Outcome.WAITING, Rule.CONTINGENCY): "it takes office when the fact it waits for leaves",
    (Outcome.WAITING, Rule.APPROVAL): "it is kept once whoever said it approves it",
    (Outcome.ESTABLISHED, Rule.APPROVAL): "it was approved",
    (Outcome.SUPERSEDED, Rule.APPROVAL): "it was approved",
    (Outcome.SHADOWED, Rule.APPROVAL): "it was approved; the wider one stays",
    (Outcome.PROMOTED, Rule.COMMIT): "what held in a branch or a task now holds more widely",
    (Outcome.REVERTED, Rule.REVERSION): "an earlier value was put back",
    (Outcome.REVERTED, Rule.UNDO): "a verdict was undone; all stands as if it had not been made",
    (Outcome.RETRACTED, Rule.RETRACTION): "it was taken back, with no new value",
    (Outcome.RETRACTED, Rule.DISCARD): "what was only proposed was discarded",
    (Outcome.RETRACTED, Rule.REVIEW): "a review took it back",
    (Outcome.RETRACTED, Rule.ERASURE): "content was erased for good",
    (Outcome.RETRACTED, Rule.COMMIT): "the proposal went into the fact that it changes",
}
# The same where text was compared with text: nobody named a fact or an address.
_WHY_IN_TEXT: dict[Rule, str] = {
    Rule.EXPLICIT: "the statement says that it replaces something",
    Rule.IMPLICIT: "the statement gives the same thing another value",
}


def shown(value: object) -> str:
    """A value on one line, cut if it is too long."""
    text = inline(value)
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]} ... ({len(text):,} characters)"


def cut(line: str, longest: int) -> str:
    """A line of a context, inert as it is, without its list mark and cut at a length."""
    text = line.removeprefix("- ")
    return text if len(text) <= longest else f"{text[: longest - 4]} ..."


def by_reason(omissions: Iterable[Omission]) -> dict[str, int]:
    """The number of omissions by reason, the most frequent first."""
    counts: Counter[str] = Counter()
    for omission in omissions:
        counts[omission.reason] += omission.count
    return dict(sorted(counts.items(), key=lambda counted: (-counted[1], counted[0])))


def left_out(omissions: Iterable[Omission]) -> str:
    """The number of omissions by reason on one line: `4 superseded, 1 over budget`."""
    counts = by_reason(omissions).items()
    told = (f"{count:,} {_REASONS.get(reason, reason)}" for reason, count in counts)
    return ", ".join(told) or "nothing"


def made_of(parts: Mapping[str, float]) -> str:
    """The parts of a score: `words .18 meaning .22 key .13`."""
    return " ".join(
        f"{_PARTS.get(name, name)} {_hundredths(value)}" for name, value in parts.items()
    )


def _hundredths(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1)


def told(fact: Fact) -> str:
    """A fact in one line, with its scope unless that is global: `key [task T] = value`."""
    if fact.is_unnamed:
        return f"{shown(fact.value)}{place(fact)}"
    return f"{name_of(fact)}{place(fact)} = {shown(fact.value)}"


def called(fact: Fact | None) -> str:
    """The name of a fact on the way from one to another: its key, or its words if it has none."""
    if fact is None:
        return "?"
    return name(fact.key) if fact.key else shown(fact.value)


def place(fact: Fact) -> str:
    """The scope of a fact in brackets, unless it applies everywhere."""
    return f" [{fact.scope.value} {shown(fact.scope_id)}]" if fact.scope_id else ""


def why(verdict: Verdict) -> str:
    """The reason of a verdict in plain words."""
    if verdict.evidence.get("late"):
        return "it came late, and went into its place behind a newer fact"
    if verdict.outcome is Outcome.OVERRULED:
        authority = verdict.evidence.get("authority")
        return (
            f"a fact on the authority of {authority} stands"
            if authority
            else ("a fact of higher authority stands")
        )
    if "after_expiry_of" in verdict.evidence:
        return "the fact that held this address had expired"
    if verdict.outcome is Outcome.SUPERSEDED and "reader" in verdict.evidence:
        return _WHY_IN_TEXT.get(verdict.rule) or _WHY[verdict.outcome, verdict.rule]
    return _WHY.get((verdict.outcome, verdict.rule), f"decided by the {verdict.rule} rule")


def said_in(fact: Fact) -> str:
    """The turn of a fact that came from text: `turn 3 (user), ref chat:3`."""
    source = fact.source
    if source.turn_index is None:
        return ""
    return _turn(source.turn_index, source.speaker, source.ref)


def _turn(index: int, speaker: str | None, ref: str | None) -> str:
    by = f" ({shown(speaker)})" if speaker else ""
    return f"turn {index}{by}{f', ref {shown(ref)}' if ref else ''}"


def provenance(fact: Fact) -> Iterator[tuple[str, str]]:
    """The provenance of a fact that came from text, as (label, text) lines."""
    source = fact.source
    if source.turn_index is not None:
        yield "said in", said_in(fact)
    if source.quote is not None:
        yield "quote", shown(source.quote)
    for said in source.earlier:
        yield "keeps words of", _turn(said.turn_index, said.speaker, said.ref)
    if source.inferred:
        yield "inferred", ", ".join(source.inferred)


def account(verdict: Verdict, find: Find) -> Iterator[tuple[str, str]]:
    """The facts that a verdict concerned and its consequences, as (label, text) lines, without the
    verdict's own ids."""
    for fact_id in verdict.superseded:
        yield "replaces", _name(fact_id, find)
    for evidence, label in (
        ("overruled_by", "overruled by"),
        ("shadows", "in front of"),
        ("contests", "contests"),
        ("waits_for", "waits for"),
        ("superseded_by", "behind"),
    ):
        if isinstance(named := verdict.evidence.get(evidence), str):
            yield label, _name(named, find)
    if verdict.reason:
        yield "reason", shown(verdict.reason)
    for text in consequences(verdict, find):
        yield "then", text


def consequences(verdict: Verdict, find: Find) -> Iterator[str]:
    """The consequences of a decision, one sentence each."""
    repair = verdict.repair
    for fact_id, path in repair.marked.items():
        steps = " -> ".join(_key(step, find) for step in path)
        yield f"{_key(fact_id, find)} needs review: {steps}"
    for fact_id in repair.lifted:
        yield f"{_key(fact_id, find)} no longer needs review"
    for fact_id in repair.took_office:
        yield f"{_name(fact_id, find)} takes office"
    for fact_id in repair.stepped_back:
        yield f"{_name(fact_id, find)} leaves office"


def doubt(statement: Fact | None) -> str:
    """Why a fact is in doubt: the statement that may have replaced it, and when that was said."""
    if statement is None:
        return "a later statement may have replaced it"
    return f"{told(statement)}, said on {statement.timestamp:%Y-%m-%d}, may have replaced it"


def asked(review: Review) -> str:
    """What a person is asked who is to approve a statement."""
    said = f"said on {review.fact.timestamp:%Y-%m-%d}, and not kept yet"
    return f"{said}; in office is {told(review.rival)}" if review.rival is not None else said


def because(review: Review, find: Find) -> Iterator[str]:
    """Why a fact is up for review."""
    if review.kind == "contested":
        yield f"in office is {told(review.rival)}" if review.rival else "nothing is in office"
    elif review.kind == "doubted":
        yield doubt(review.rival)
    elif review.kind == "unapproved":
        yield asked(review)
    else:
        for cause in review.causes:
            path = " -> ".join(called(find(step)) for step in cause.path)
            now = find(cause.now) if cause.now else None
            yield f"{path} (now {told(now)})" if now else path


def grounds(explanation: Explanation, find: Find) -> Iterator[tuple[str, str]]:
    """What a fact rests on and carries, what is in doubt, and why it needs review, with labels."""
    fact = explanation.fact
    yield from (("rests on", _name(base, find)) for base in fact.depends_on)
    yield from (("carries", _name(derived, find)) for derived in fact.derived_facts)
    yield from (("in doubt", doubt(statement)) for statement in explanation.doubted_by)
    yield from (("doubts", _name(doubted, find)) for doubted in fact.doubts)
    for cause in explanation.causes:
        yield "needs review", " -> ".join(called(find(step)) for step in cause.path)


def standing(fact: Fact) -> str:
    """The status of a fact, in a few words."""
    if fact.is_unapproved:
        return "waits for approval"
    if fact.status is Status.OFFICE:
        return "in office, needs review" if fact.needs_review else "in office"
    return fact.status.value


def _name(fact_id: str, find: Find) -> str:
    fact = find(fact_id)
    return told(fact) if fact is not None else fact_id


def _key(fact_id: str, find: Find) -> str:
    fact = find(fact_id)
    return name_of(fact) if fact is not None else fact_id
