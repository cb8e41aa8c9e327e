"""Reading beyond single values: explanations, and derivations."""

from __future__ import annotations

from collections import defaultdict

from incumbent.engine.doubts import doubters
from incumbent.engine.lens import Lens
from incumbent.engine.redaction import mentioned, redacted, unlinked
from incumbent.model.errors import UnknownFact
from incumbent.model.fact import Fact, Status
from incumbent.model.records import Explanation
from incumbent.model.verdict import Verdict
from incumbent.stores.port import Reader


def with_visible_links(reader: Reader, lens: Lens, facts: list[Fact]) -> list[Fact]:
    """The same facts without links to others that this identity may not know of.

    A policy can take the place of a private statement.
    """
    linked = {i for fact in facts for i in (fact.superseded_by, *fact.predecessors) if i}
    known = reader.facts(linked.difference(fact.id for fact in facts)) if linked else ()
    hidden = {fact.id for fact in known if not _is_known(reader, lens, fact)}
    return [unlinked(fact, hidden) for fact in facts] if hidden else facts


def _is_known(reader: Reader, lens: Lens, fact: Fact) -> bool:
    return fact.status is Status.ERASED or lens.sees(reader, fact)


def with_derived(reader: Reader, lens: Lens, facts: list[Fact]) -> list[Fact]:
    """The same facts with `derived_facts` filled in, as far as this identity may know."""
    facts = with_visible_links(reader, lens, facts)
    derived: dict[str, list[str]] = defaultdict(list)
    for fact in reader.derived_from(fact.id for fact in facts):
        if lens.glimpse(reader, fact.id) is not None:
            for base in fact.depends_on:
                derived[base].append(fact.id)
    return [
        fact.evolve(derived_facts=tuple(derived[fact.id])) if fact.id in derived else fact
        for fact in facts
    ]


def find_any(reader: Reader, lens: Lens, key_or_id: str, subject: str | None) -> Fact:
    """The fact with an id, the one in office at a key, or the last one that was written there."""
    here = lens.view(reader, key_or_id, subject).effective
    fact = lens.by_id(reader, key_or_id)
    if fact is not None and not here:
        return fact
    found = sorted(here, key=lambda f: (not f.owner, f.id)) or sorted(
        lens.everything(reader, key_or_id, subject), key=lambda f: f.id, reverse=True
    )
    if not found:
        raise UnknownFact(
            f"no fact with id or key {key_or_id!r} exists here; "
            f"`incumbent facts` or session.facts() lists what there is"
        )
    return found[0]


def _hidden(reader: Reader, lens: Lens, verdict: Verdict) -> set[str]:
    """The facts a verdict mentions that this identity may not know of."""
    found = {fact_id: reader.fact(fact_id) for fact_id in mentioned(verdict)}
    return {i for i, fact in found.items() if fact is not None and not lens.sees(reader, fact)}


def explain(reader: Reader, lens: Lens, fact: Fact) -> Explanation:
    """A fact with its chain and every verdict on it and on the statements it prevailed over."""
    # What was said under no name stands beside everything else that was: it follows no address.
    address = [] if fact.is_unnamed else lens.everything(reader, fact.key, fact.subject or "")
    linked = lens.chain(reader, [fact, *(f for f in address if f.address == fact.address)])
    told = [*linked.facts, *linked.overruled, *address, fact]
    facts = {f.id: f for f in with_visible_links(reader, lens, told)}
    verdicts = tuple(
        redacted(verdict, _hidden(reader, lens, verdict)).evolve(fact=facts[verdict.fact_id])
        for verdict in reader.verdicts(facts)
        if verdict.fact_id in facts
    )
    return Explanation(
        fact=with_derived(reader, lens, [fact])[0],
        chain=linked,
        verdicts=verdicts,
        causes=fact.causes,
        doubted_by=tuple(
            with_visible_links(reader, lens, doubters(reader, lens, [fact]).get(fact.id, []))
        ),
    )
