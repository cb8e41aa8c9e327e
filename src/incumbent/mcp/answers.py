"""Answers: the results of tools, as text for a model and as data for a program.

Every stored value is shown as a context shows it: on one line, and in quotes if it could be taken
for anything but data. That holds for the data too, since many clients hand it to a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from pydantic import BaseModel, Field

from incumbent import Context, Erasure, Fact, Observation, Outcome, Verdict
from incumbent.context.quotes import inline, name
from incumbent.words import Find, account, by_reason, left_out, shown, standing, why


class ToolAnswer(BaseModel):
    """What a tool gives."""

    def told(self) -> str:
        """The same in words."""
        raise NotImplementedError


class FactShown(BaseModel):
    """A fact, with how it stands."""

    id: str
    key: str = Field(description="Empty for what was kept as it was said.")
    about: str | None = Field(None, description="Whom or what it is about.")
    value: str
    standing: str = Field(description="'in office' for what holds; otherwise how it left.")
    said_by: str
    via: str | None = Field(None, description="By what it was written, where that is known.")
    authority: str
    since: str | None = None
    until: str | None = None

    def told(self) -> str:
        via = f" via {self.via}" if self.via else ""
        held = " to ".join(filter(None, (self.since, self.until)))
        return (
            f"{_named(self.key, self.about)}{self.value} [{self.standing}; by {self.said_by}{via}, "
            f"{self.authority}; {held} UTC; id {self.id}]"
        )


def _named(key: str, about: str | None) -> str:
    """What stands before a value; nothing before what was kept as it was said."""
    subject = f" ({about})" if about else ""
    return f"{key}{subject} = " if key else ""


def _key(fact: Fact) -> str:
    return "" if fact.is_unnamed else name(fact.key)


def fact_shown(fact: Fact, *, whole: bool = False) -> FactShown:
    """A fact for an answer; a long value is cut, unless all of it is wanted."""
    return FactShown(
        id=fact.id,
        key=_key(fact),
        about=None if fact.subject is None else name(fact.subject),
        value=inline(fact.value) if whole else shown(fact.value),
        standing=standing(fact),
        said_by=name(_speaker(fact)),
        via=None if fact.source.name is None else name(fact.source.name),
        authority=name(fact.standing),
        since=_clock(fact.started_at or fact.valid_from),
        until=_clock(fact.until),
    )


def _speaker(fact: Fact) -> str:
    """The speaker of a fact; by name, if it was not the person whose session it was."""
    said = fact.source.speaker
    return said if said not in (None, "user") else fact.owner or "the organization"


def _clock(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


class Decision(BaseModel):
    """What became of one statement."""

    outcome: str
    key: str
    about: str | None = None
    value: str
    why: str
    details: list[str] = Field(
        default_factory=list, description="What it replaced or met, and what followed from it."
    )
    fact_id: str

    def told(self) -> Iterator[str]:
        yield f"{self.outcome}: {_named(self.key, self.about)}{self.value}"
        yield f"  because {self.why}"
        yield from (f"  {detail}" for detail in self.details)
        yield f"  id {self.fact_id}"


def decision_of(verdict: Verdict, find: Find) -> Decision:
    """A verdict in words."""
    fact = verdict.fact
    return Decision(
        outcome=verdict.outcome.value,
        key="?" if fact is None else _key(fact),
        about=None if fact is None or fact.subject is None else name(fact.subject),
        value="?" if fact is None else shown(fact.value),
        why=why(verdict),
        details=[f"{label} {text}" for label, text in account(verdict, find)],
        fact_id=verdict.fact_id,
    )


class Decided(ToolAnswer):
    """What became of what was said."""

    decisions: list[Decision] = Field(default_factory=list)
    erased: int = Field(
        default=0, description="How many facts the words asked to be erased, and were."
    )
    note: str | None = None

    def told(self) -> str:
        lines = [line for one in self.decisions for line in one.told()]
        if self.erased:
            lines.append(f"{self.erased} fact(s) were erased for good, as the words asked.")
        if self.note:
            lines.append(self.note)
        return "\n".join(lines)


_NOTES = {
    Outcome.OVERRULED: "What holds was said with more authority than this connection has. Tell the "
    "user; do not try again.",
    Outcome.CONTESTED: "What holds stays until a person decides. Ask the user which is right.",
}


_NOT_ERASED = (
    "The words ask for everything of the user to be erased. That was not done: so much goes only "
    "after they have confirmed it. Ask them; then `forget` erases what they name, key by key, and "
    "whoever keeps the memory erases all of it with `incumbent forget --user`."
)
_MAY_NOT_ERASE = (
    "The words ask for everything of the user to be erased. That was not done, and this connection "
    "may not erase. Tell the user; whoever keeps the memory does it with `incumbent forget --user`."
)


def decided(verdicts: Iterable[Verdict], find: Find) -> Decided:
    """Verdicts as an answer."""
    listed = list(verdicts)
    notes = dict.fromkeys(_NOTES[one.outcome] for one in listed if one.outcome in _NOTES)
    return Decided(
        decisions=[decision_of(one, find) for one in listed], note=" ".join(notes) or None
    )


def _not_believed(made: Observation) -> str:
    """What of a reading that is at hand was not put into effect."""
    opinion = made.opinion
    if opinion is None:
        return ""
    if opinion.status == "failed":
        return f"The reading was not taken: {opinion.reason}."
    dropped = "; ".join(str(one) for one in opinion.proposals if one.outcome == "dropped")
    return f"Not believed: {dropped}." if dropped else ""


def observed(made: Observation, find: Find) -> Decided:
    """The results of a turn, as an answer."""
    answer = decided(made.verdicts, find)
    erased = sum(len(erasure.fact_ids) for erasure in made.erasures)
    note = answer.note
    if made.erasure_requested is not None:
        note = _NOT_ERASED if made.erasure_requested.permitted else _MAY_NOT_ERASE
    elif not made.verdicts and not erased:
        kinds = ", ".join(
            dict.fromkeys(one.kind.value.replace("_", " ") for one in made.statements)
        )
        note = f"Nothing in it became a fact{f' ({kinds})' if kinds else ''}."
    note = " ".join(filter(None, (note, _not_believed(made)))) or None
    return answer.model_copy(update={"erased": erased, "note": note})


class ContextShown(ToolAnswer):
    """What to go by, within a budget."""

    text: str
    tokens: int
    budget: int
    left_out: dict[str, int] = Field(description="How many facts were left out, by reason.")
    account: str = Field(description="What was left out, and how much of the budget is used.")

    def told(self) -> str:
        return f"{self.text}\n\n({self.account})"


def context_shown(context: Context) -> ContextShown:
    return ContextShown(
        text=context.text,
        tokens=context.tokens,
        budget=context.budget,
        left_out=by_reason(context.omissions),
        account=(
            f"Left out: {left_out(context.omissions)}. "
            f"{context.tokens:,} of {context.budget:,} tokens."
        ),
    )


class SupposedContext(ContextShown):
    """What one would go by if something were so."""

    decisions: list[Decision] = Field(description="What the suppositions would lead to.")

    def told(self) -> str:
        lines = [line for one in self.decisions for line in one.told()]
        supposed = "\n".join(lines) or "Nothing in it could be taken for a fact."
        return f"Supposed:\n{supposed}\n\n{super().told()}\n(Nothing of this was kept.)"


class Explained(ToolAnswer):
    """Why a fact stands as it does."""

    fact: FactShown
    lines: list[str]

    def told(self) -> str:
        return "\n".join([self.fact.told(), *self.lines])


class ChainShown(ToolAnswer):
    """The values that a key had, oldest first."""

    key: str
    facts: list[FactShown]
    overruled: list[FactShown] = Field(description="Statements that never took office.")
    current: str | None = Field(description="The id of the fact that holds, if one does.")

    def told(self) -> str:
        if not self.facts and not self.overruled:
            return f"Nothing is on record at {self.key}."
        lines = [f"{number}. {fact.told()}" for number, fact in enumerate(self.facts, start=1)]
        lines += [f"never took office: {fact.told()}" for fact in self.overruled]
        if self.current is None:
            lines.append("Nothing of it holds now.")
        return "\n".join(lines)


class ReviewShown(BaseModel):
    """A question: is this fact still right?"""

    kind: str
    fact: FactShown
    because: str


class ReviewsShown(ToolAnswer):
    """What wants a decision."""

    reviews: list[ReviewShown]
    settled: Decision | None = None

    def told(self) -> str:
        lines = [*self.settled.told()] if self.settled else []
        for one in self.reviews:
            lines += [f"{one.kind}: {one.fact.told()}", f"  {one.because}"]
        if not self.reviews:
            lines.append("Nothing needs review.")
        return "\n".join(lines)


class Erased(ToolAnswer):
    """The proof of an erasure: ids and counts, no content."""

    fact_ids: list[str]
    proof: str
    digest: str

    def told(self) -> str:
        return (
            f"{len(self.fact_ids)} fact(s) erased for good: content, history, and what quotes "
            f"them.\nproof {self.proof}, digest {self.digest}"
        )


def erased(proofs: Iterable[Erasure]) -> Erased:
    listed = list(proofs)
    return Erased(
        fact_ids=[fact_id for proof in listed for fact_id in proof.fact_ids],
        proof=", ".join(proof.id for proof in listed),
        digest=", ".join(proof.digest for proof in listed),
    )
