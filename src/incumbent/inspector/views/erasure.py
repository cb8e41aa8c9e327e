"""Erasure: what will go, a confirmation in writing, and the proof."""

from __future__ import annotations

import json
from typing import Any

from incumbent.http.problems import Refusal, refusal_of
from incumbent.inspector.visit import Download, Redirect, Result, Route, Visit, WebPage, address
from incumbent.model.errors import InvalidInput, NotPermitted
from incumbent.model.fact import Fact
from incumbent.model.keys import KeyScope
from incumbent.model.records import Erasure
from incumbent.stores.codec import erasure_record

_MOST = 50
_NAMES = 200
_CONDITIONS = {"person": "user_id", "subject": "subject", "fact": "fact_id"}
"""What a form may choose, and the argument that it stands for."""


def _erasure(visit: Visit) -> Result:
    """The choice of what is to go. Names are sent in forms alone, never in an address."""
    return WebPage("erasure.html", _choice(visit, {"fact": visit.asked.get("fact", "")}))


def _choice(visit: Visit, chosen: dict[str, str]) -> dict[str, Any]:
    may_all = visit.may("admin")
    organization = visit.organization
    people = visit.memory.list_users(organization, limit=_NAMES) if may_all else ()
    proofs = visit.memory.store.erasures(organization) if may_all else []
    return {
        "here": "erasure",
        "chosen": {name: chosen.get(name, "") for name in _CONDITIONS},
        "fact": visit.session.get(chosen["fact"]) if chosen.get("fact") else None,
        "people": [one.user_id for one in people],
        "may_all": may_all,
        "proofs": proofs[-_MOST:][::-1],
        "refusal": None,
    }


def _conditions(visit: Visit) -> dict[str, Any]:
    """What is to be forgotten: with an admin's credential anything, else what is the person's own.

    The same as the service has it for a call from elsewhere.
    """
    chosen = {
        argument: text
        for name, argument in _CONDITIONS.items()
        if (text := visit.form.get(name, "").strip())
    }
    if not chosen:
        raise InvalidInput("choose a person, a subject or a fact to forget")
    if visit.may("admin"):
        return chosen
    person = visit.looking.user_id
    if chosen.get("user_id", person) != person:
        raise NotPermitted(
            "with this credential a person's own can be forgotten; to forget somebody else takes "
            "the scope 'admin'"
        )
    return {**chosen, "user_id": person, "by": person}


def _rehearsed(visit: Visit) -> Erasure:
    return visit.memory.forget(organization=visit.organization, **_conditions(visit), rehearse=True)


def confirmation(foreseen: Erasure) -> str:
    """What has to be typed. It names how much goes, so that nobody confirms something else."""
    return f"erase {len(foreseen.fact_ids)}"


def _preview(visit: Visit) -> Result:
    try:
        foreseen = _rehearsed(visit)
    except (InvalidInput, NotPermitted) as error:
        return _chosen_again(visit, refusal_of(error))
    if not foreseen.fact_ids and not any(foreseen.removed.values()):
        return _chosen_again(
            visit, Refusal(404, "UnknownFact", "nothing matches that; check the name")
        )
    return WebPage("erasing.html", _going(visit, foreseen))


def _chosen_again(visit: Visit, refusal: Refusal) -> WebPage:
    chosen = {name: visit.form.get(name, "").strip() for name in _CONDITIONS}
    fill = {**_choice(visit, chosen), "refusal": refusal}
    return WebPage("erasure.html", fill, refusal.status)


def _going(visit: Visit, foreseen: Erasure, problem: str = "") -> dict[str, Any]:
    shown: list[Fact] = []
    for fact_id in foreseen.fact_ids:
        if len(shown) < _MOST and (fact := visit.session.get(fact_id)) is not None:
            shown.append(fact)
    return {
        "here": "erasure",
        "foreseen": foreseen,
        "facts": shown,
        "unseen": len(foreseen.fact_ids) - len(shown),
        "quoting": set(foreseen.quoted_in),
        "fields": {name: visit.form[name] for name in _CONDITIONS if visit.form.get(name)},
        "confirmation": confirmation(foreseen),
        "problem": problem,
    }


def _do(visit: Visit) -> Result:
    """Erase, if what was typed is what would go now."""
    foreseen = _rehearsed(visit)
    if visit.form.get("typed", "").strip().lower() != confirmation(foreseen):
        problem = f"Nothing was erased. Type {confirmation(foreseen)!r} to confirm."
        return WebPage("erasing.html", _going(visit, foreseen, problem), 422)
    proof = visit.memory.forget(organization=visit.organization, **_conditions(visit))
    said = f"Erased for good: {len(proof.fact_ids)} facts."
    if proof.scrubbed:
        said += " The freed space was overwritten."
    # Whoever has the digest was shown the proof, or was given it by somebody who was.
    return Redirect(address("erasure/proof", id=proof.id, digest=proof.digest), said=said)


def _found(visit: Visit) -> Erasure:
    """A proof by its id and digest. It names ids and counts, and is for those who were told."""
    proofs = visit.memory.store.erasures(visit.organization)
    asked = visit.asked.get("id", "")
    found = next((one for one in proofs if one.id == asked), None)
    if found is None or found.digest != visit.asked.get("digest", ""):
        raise Refusal(404, "UnknownFact", "there is no such proof; check its id and digest")
    return found


def _proof(visit: Visit) -> Result:
    return WebPage("erased.html", {"here": "erasure", "proof": _found(visit)})


def _download(visit: Visit) -> Result:
    proof = _found(visit)
    document = {**erasure_record(proof), "digest": proof.digest}
    return Download(f"erasure-{proof.id}.json", json.dumps(document, indent=2) + "\n")


ROUTES = (
    Route("erasure", _erasure, KeyScope.ERASE),
    Route("erasure/preview", _preview, KeyScope.ERASE, action=True),
    Route("erasure/do", _do, KeyScope.ERASE, action=True),
    Route("erasure/proof", _proof, KeyScope.ERASE),
    Route("erasure/proof.json", _download, KeyScope.ERASE),
)
