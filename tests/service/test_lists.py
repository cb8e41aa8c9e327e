"""Lists over HTTP: what a credential reaches, and that no line goes beyond it."""

from __future__ import annotations

from typing import Any

import pytest

import incumbent
from tests.service.running import Running, a_key, problem

BOB: dict[str, Any] = {"session": {"user_id": "bob"}}
OWN = ["list_sessions", "list_subjects", "list_keys", "list_receipts"]
ALL = [f"organization/{name}" for name in (*OWN, "list_users", "list_audit")]
SEEN = [*OWN, "list_facts", "list_branches"]


@pytest.fixture
def staffed(guarded: Running) -> Running:
    """A service with something of two people, and of another organization."""
    for organization, name in (("acme", "alice"), ("acme", "bob"), ("globex", "bob")):
        who = guarded.memory.session(
            user_id=name, organization=organization, session_id=f"s {organization} {name}"
        )
        who.write("city", name, subject=f"home of {name} in {organization}")
        who.write("salary", 1, subject=f"pay of {name} in {organization}", requires=["hr"])
        who.observe(f"My desk is {len(name)}.")
        who.draft(f"plan of {name} in {organization}").write("size", 1)
        who.draft(f"pay of {name}").write("salary", 2, requires=["hr"])
        who.context("Where is the desk?", record=True)
    return guarded


def items(response: Any) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["items"]
    return found


@pytest.mark.parametrize("path", SEEN)
def test_a_person_is_listed_what_is_theirs(staffed: Running, path: str) -> None:
    """Nothing of anybody else, of another organization, or behind a permission."""
    key = a_key(staffed.memory, "read", user_id="bob")
    response = staffed.post(path, {}, key=key)
    assert items(response)
    assert "alice" not in response.text
    assert "globex" not in response.text
    assert "pay of" not in response.text
    assert response.json()["next"] is None


@pytest.mark.parametrize("path", SEEN)
def test_a_key_for_many_lists_for_the_person_it_names(staffed: Running, path: str) -> None:
    """A key of nobody in particular has to say for whom; scope admin changes nothing here."""
    key = a_key(staffed.memory, "read", "admin")
    assert "alice" not in staffed.post(path, BOB, key=key).text
    problem(staffed.post(path, {}, key=key), 422)


@pytest.mark.parametrize("path", ALL)
def test_a_whole_organization_takes_the_scope_admin(staffed: Running, path: str) -> None:
    """With it everybody's lines come, and none of another organization."""
    reader = a_key(staffed.memory, "read", "write", "review", "erase")
    problem(staffed.post(path, BOB, key=reader), 403)
    admin = a_key(staffed.memory, "admin")
    response = staffed.post(path, {}, key=admin)
    assert len(items(response)) >= 2
    assert "alice" in response.text
    assert "bob" in response.text
    assert "globex" not in response.text
    named = {"session": {"organization": "globex"}}
    problem(staffed.post(path, named, key=admin), 403, "NotPermitted")


def test_a_list_is_read_by_pages(staffed: Running) -> None:
    """`next` of an answer, given as `cursor`, brings what comes after it, and null is the end."""
    admin = a_key(staffed.memory, "admin")
    first = staffed.post("organization/list_users", {"limit": 1}, key=admin).json()
    again = {"limit": 1, "cursor": first["next"]}
    second = staffed.post("organization/list_users", again, key=admin).json()
    assert [one["user_id"] for one in first["items"] + second["items"]] == ["alice", "bob"]
    assert second["next"] is None


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("organization/list_users", {"limit": 0}),
        ("organization/list_users", {"limit": "5"}),
        ("organization/list_users", {"cursor": "x"}),
        ("organization/list_sessions", {"since": "2026-01-01"}),
        ("organization/list_sessions", {"since": "2026-01-01T00:00:00"}),
        ("organization/list_keys", {"owner": 5}),
        ("list_keys", {"prefix": None, **BOB}),
        ("list_keys", {"owner": "alice", **BOB}),
        ("list_sessions", {"user_id": "alice", **BOB}),
        ("list_facts", {"states": "office", **BOB}),
        ("list_facts", {"states": ["gone"], **BOB}),
        ("list_facts", {"owner": "alice", **BOB}),
        ("list_facts", {"text": None, **BOB}),
        ("list_turns", {"session_id": "", **BOB}),
        ("list_turns", {"user_id": "alice", **BOB}),
        ("organization/activity", {"since": "2026-01-01"}),
    ],
)
def test_what_makes_no_sense_is_refused(staffed: Running, path: str, body: dict[str, Any]) -> None:
    """With the field, or what would be right."""
    key = a_key(staffed.memory, "read", "admin")
    problem(staffed.post(path, body, key=key), 422, "InvalidInput")


def test_the_turns_of_a_session_are_its_persons(staffed: Running) -> None:
    """Whoever names the session of another gets nothing, whatever the scope of the key."""
    key = a_key(staffed.memory, "read", "admin")
    own = items(staffed.post("list_turns", {"session_id": "s acme bob", **BOB}, key=key))
    assert [(one["turn_index"], one["text"]) for one in own] == [(1, "My desk is 3.")]
    for session_id in ("s acme alice", "s globex bob"):
        asked = {"session_id": session_id, **BOB}
        assert items(staffed.post("list_turns", asked, key=key)) == []


def test_facts_are_found_over_http(staffed: Running) -> None:
    """By their text and state, with those in office by default."""
    key = a_key(staffed.memory, "read", user_id="bob")
    assert [one["value"] for one in items(staffed.post("list_facts", {}, key=key))] == ["3", "bob"]
    found = staffed.post("list_facts", {"text": "HOME", "states": []}, key=key)
    assert [one["value"] for one in items(found)] == ["bob"]
    assert items(staffed.post("list_facts", {"text": "pay"}, key=key)) == []


def test_activity_is_the_organizations_and_has_numbers_alone(staffed: Running) -> None:
    """It takes the scope admin, and tells of no other organization."""
    reader = a_key(staffed.memory, "read", "write", "review", "erase")
    problem(staffed.post("organization/activity", BOB, key=reader), 403)
    admin = a_key(staffed.memory, "admin")
    response = staffed.post("organization/activity", {}, key=admin)
    assert response.status_code == 200, response.text
    told = response.json()
    log = len(list(staffed.memory.audit("acme")))
    assert sum(line["count"] for line in told["verdicts"]) == log
    assert told["facts"] == 10
    for word in ("alice", "bob", "globex", "city", "desk"):
        assert word not in response.text
    named = {"session": {"organization": "globex"}}
    problem(staffed.post("organization/activity", named, key=admin), 403, "NotPermitted")


def test_the_client_lists_as_far_as_its_key_goes(staffed: Running) -> None:
    """A person's key lists theirs, and is refused the organization's."""
    key = a_key(staffed.memory, "read", user_id="bob")
    with incumbent.open(staffed.address, key=key) as memory:
        bob = memory.session(user_id="bob", organization="acme")
        page = bob.list_sessions()
        assert isinstance(page, incumbent.Listing)
        assert [one.session_id for one in page] == ["s acme bob"]
        with pytest.raises(incumbent.NotPermitted, match="admin"):
            memory.list_sessions("acme")
