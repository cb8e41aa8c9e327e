"""Subjects: what the facts in office are about, to choose one from."""

from __future__ import annotations

from incumbent.inspector.visit import Result, Route, Visit, WebPage, address

_BESIDE = 20
_PAGE = 100


def _subjects(visit: Visit) -> Result:
    """A page of them; beside the facts, the first few. They take longer to count than the facts to
    find, so that the list of facts does not wait for them."""
    beside = visit.is_part
    prefix = visit.asked.get("prefix", "")
    listed = visit.session.list_subjects(
        prefix=prefix,
        limit=_BESIDE if beside else _PAGE,
        cursor=visit.asked.get("cursor") or None,
    )
    fill = {
        "here": "now",
        "subjects": listed,
        "chosen": visit.asked.get("chosen", ""),
        "prefix": prefix,
        "further": address("subjects", prefix=prefix, cursor=listed.next) if listed.next else "",
    }
    return WebPage("subjects_beside.html" if beside else "subjects.html", fill)


ROUTES = (Route("subjects", _subjects),)
