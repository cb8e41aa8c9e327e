"""Reviews: what wants a decision, one after the other, with both sides and why."""

from __future__ import annotations

from dataclasses import dataclass

from incumbent.inspector.remedies import DECISIONS
from incumbent.inspector.story import ChangedBase, Find, changed_bases, finder
from incumbent.inspector.views.righting import done, foreseen
from incumbent.inspector.visit import Redirect, Result, Route, Visit, WebPage, address
from incumbent.model.fact import Fact
from incumbent.model.keys import KeyScope
from incumbent.model.records import Review
from incumbent.model.verdict import Outcome, Verdict
from incumbent.session import Session
from incumbent.words import asked, doubt

_MOST = 20


@dataclass(frozen=True)
class ReviewChoice:
    """A button of a review: what it does, to which fact, and what follows in a few words."""

    do: str
    fact_id: str
    key: str
    """The letter that presses it."""
    label: str
    follows: str
    takes_value: bool = False


@dataclass(frozen=True)
class ReviewCard:
    """A review as the page shows it."""

    review: Review
    changed: tuple[ChangedBase, ...]
    verdict: Verdict | None
    """The verdict that left a contested statement to a person."""
    says: str
    decisions: tuple[ReviewChoice, ...]

    @property
    def name(self) -> str:
        """Its name in addresses: a fact can be under review for two reasons."""
        return f"{self.review.fact.id}.{self.review.kind.partition(' ')[0]}"


def _reviews(visit: Visit) -> Result:
    session = visit.session
    queue = session.reviews()
    at = visit.asked.get("at", "")
    names = [_name(review) for review in queue]
    start = names.index(at) if at in names else 0
    # The one at hand is always among those shown.
    first = max(0, min(start, len(queue) - _MOST))
    find = finder(session.get)
    cards = [_card(visit, session, review, find) for review in queue[first : first + _MOST]]
    fill = {
        "here": "reviews",
        "count": len(queue),
        "cards": cards,
        "before": first,
        "after": len(queue) - first - len(cards),
        "at": names[start] if names else "",
        "next": dict(zip(names, [*names[1:], ""], strict=False)),
        "careful": bool(visit.asked.get("careful")),
    }
    return WebPage("reviews.html", fill)


def _name(review: Review) -> str:
    return f"{review.fact.id}.{review.kind.partition(' ')[0]}"


def _card(visit: Visit, session: Session, review: Review, find: Find) -> ReviewCard:
    verdict = _contesting(session, review.fact) if review.kind == "contested" else None
    says = doubt(review.rival) if review.kind == "doubted" else ""
    says = asked(review) if review.kind == "unapproved" else says
    decisions = _DECIDE[review.kind](review) if visit.may("review") else ()
    if not visit.may("write"):
        decisions = tuple(one for one in decisions if one.do != "drop")
    changed = tuple(changed_bases(review.causes, find))
    return ReviewCard(review, changed, verdict, says, decisions)


def _contesting(session: Session, fact: Fact) -> Verdict | None:
    """The last verdict that left a statement contested."""
    found = session.explain(fact.id).verdicts
    own = (one for one in reversed(found) if one.fact_id == fact.id)
    return next((one for one in own if one.outcome is Outcome.CONTESTED), None)


def _of_changed_base(review: Review) -> tuple[ReviewChoice, ...]:
    fact = review.fact.id
    return (
        ReviewChoice("keep", fact, "1", "Keep it", "It is still right."),
        ReviewChoice("retract", fact, "t", "Take it back", "It leaves office with no new value."),
        ReviewChoice(
            "replace", fact, "w", "Replace it", "By a value that rests on the bases of now.", True
        ),
    )


def _of_contested(review: Review) -> tuple[ReviewChoice, ...]:
    fact, rival = review.fact.id, review.rival
    keep = "Keep what stands" if rival is not None else "Drop the statement"
    accept = "The statement takes its place." if rival is not None else "It takes office."
    return (
        ReviewChoice("retract", fact, "1", keep, "The new statement is taken back."),
        ReviewChoice("accept", fact, "2", "Accept the statement", accept),
        ReviewChoice("replace", fact, "w", "Replace both", "By a value that you write.", True),
    )


def _of_doubted(review: Review) -> tuple[ReviewChoice, ...]:
    fact, rival = review.fact.id, review.rival
    found = (
        ReviewChoice(
            "drop",
            rival.id if rival else "",
            "1",
            "Keep only this",
            "The later statement is taken back.",
        ),
        ReviewChoice(
            "retract", fact, "2", "Keep only the later", "The earlier fact is taken back."
        ),
        ReviewChoice("both", fact, "b", "Both stand", "They do not contradict each other."),
        ReviewChoice("replace", fact, "w", "Replace it", "By a value that you write.", True),
    )
    return found if rival is not None else found[1:]


def _of_unapproved(review: Review) -> tuple[ReviewChoice, ...]:
    fact = review.fact.id
    keep = "It takes its place." if review.rival is not None else "It takes office."
    return (
        ReviewChoice("approve", fact, "1", "Keep it", f"{keep} It counts from when it was said."),
        ReviewChoice("dismiss", fact, "2", "Do not keep it", "It is shown nowhere."),
        ReviewChoice("replace", fact, "w", "Replace it", "By a value that you write.", True),
    )


_DECIDE = {
    "unapproved": _of_unapproved,
    "base changed": _of_changed_base,
    "contested": _of_contested,
    "doubted": _of_doubted,
}


def _back(visit: Visit, at: str) -> str:
    there = address("reviews", at=at, careful=visit.form.get("careful", ""))
    return f"{there}#at" if at else there


def _check_may(visit: Visit) -> None:
    """A statement that only raised a doubt is in no review: to take it back is to write."""
    if visit.form.get("do") == "drop":
        visit.grant.check(KeyScope.WRITE)


def _preview(visit: Visit) -> Result:
    _check_may(visit)
    back = _back(visit, visit.form.get("here", ""))
    return foreseen(visit, DECISIONS, "reviews/do", here="reviews", back=back)


def _do(visit: Visit) -> Redirect:
    """Decide, and go on to the next."""
    _check_may(visit)
    return done(visit, DECISIONS, _back(visit, visit.form.get("next", "")))


ROUTES = (
    Route("reviews", _reviews),
    Route("reviews/preview", _preview, KeyScope.REVIEW, action=True),
    Route("reviews/do", _do, KeyScope.REVIEW, action=True),
)
