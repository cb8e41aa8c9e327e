"""Putting it right: what would follow is shown before it is done, and all of it can be undone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

import incumbent
from tests.inspector.conftest import Visit
from tests.inspector.forms import sending
from tests.service.running import Running

WHO = {"user_id": "alice", "organization": "acme"}


def _id(verdict: incumbent.Verdict) -> str:
    assert verdict.fact is not None
    return verdict.fact.id


def _row(page: Page, name: str, says: str) -> str:
    """What the table of consequences has in one row."""
    row = page.locator(".changes tbody tr").filter(has_text=says)
    row = row.filter(has=page.get_by_role("rowheader", name=name))
    return row.inner_text()


def test_a_correction_is_foreseen_done_undone_and_brought_back(
    visit: Visit, memory: incumbent.Memory
) -> None:
    """Its dependents come to need review, and no longer do once it is undone."""
    alice = memory.session(**WHO)
    price = _id(alice.write("price", 12))
    total = _id(alice.write("total", 480, depends_on=[price]))
    page = visit().open(f"/inspect/fact?id={price}")
    page.get_by_label("New value, as JSON").fill("15")
    page.get_by_role("button", name="Correct").click()
    expect(page.get_by_role("heading", name="This will happen")).to_be_visible()
    assert "15" in _row(page, "price", "takes office")
    assert "superseded" in _row(page, "price", "leaves office")
    assert "in office, needs review" in _row(page, "total", "needs review")
    assert alice.current("price") == 12
    page.get_by_role("button", name="Write the new value").click()
    expect(page.get_by_role("status")).to_contain_text("Corrected: price = 15")
    expect(page.locator("h1 + .says")).to_have_text("15")
    assert alice.current("price") == 15
    _undo(page)
    assert alice.current("price") == 12
    page.goto(f"/inspect/fact?id={total}")
    expect(page.locator(".lead .state")).to_have_text("in office")
    page.goto(f"/inspect/fact?id={price}")
    page.locator(".verdict.reverted").get_by_role("link", name="Undo").click()
    assert "needs review" in _row(page, "total", "needs review")
    page.get_by_role("button", name="Undo it").click()
    expect(page.get_by_role("status")).to_be_visible()
    assert alice.current("price") == 15
    page.goto(f"/inspect/fact?id={total}")
    expect(page.locator(".lead .state")).to_have_text("in office, needs review")


def _undo(page: Page) -> None:
    """Take the offer of the message, and look at what follows."""
    page.get_by_role("status").get_by_role("link", name="Undo").click()
    assert "no longer needs review" in _row(page, "total", "no longer needs review")
    assert "withdrawn" in _row(page, "price", "leaves office")
    page.get_by_role("button", name="Undo it").click()
    expect(page.get_by_role("status")).to_contain_text("Undone")


def test_every_remedy_works_without_script(visit: Visit, memory: incumbent.Memory) -> None:
    """Taking back with a reason, going back, and letting it hold everywhere, by forms alone."""
    alice = memory.session(**WHO)
    alice.write("city", "Bern")
    city = _id(alice.write("city", "Basel"))
    page = visit(java_script_enabled=False).open(f"/inspect/fact?id={city}")
    page.get_by_role("button", name="Go back").click()
    assert "Bern" in _row(page, "city", "takes office")
    page.get_by_role("button", name="Put the earlier value back").click()
    expect(page.get_by_role("status")).to_contain_text("Put back: city = Bern")
    assert alice.current("city") == "Bern"
    page.get_by_label("Reason for taking it back").fill("moved abroad")
    page.get_by_role("button", name="Take back").click()
    page.get_by_role("button", name="Take it back").click()
    expect(page.locator(".verdict.retracted")).to_contain_text("moved abroad")
    assert alice.current("city") is None
    task = _id(alice.write("window", "mornings", scope="task", scope_id="T1"))
    page.goto(f"/inspect/fact?id={task}")
    page.get_by_role("button", name="Let it hold everywhere").click()
    page.get_by_role("button", name="Let it hold everywhere").click()
    expect(page.get_by_role("status")).to_contain_text("Holds everywhere")
    assert alice.current("window") == "mornings"


@pytest.mark.parametrize("scope", ["task", "session", "draft", "hypothetical"])
def test_a_fact_is_put_right_where_it_holds(
    served: Running, memory: incumbent.Memory, scope: str
) -> None:
    """A value of a task or a branch is corrected there, and nowhere else."""
    alice = memory.session(**WHO)
    fact_id = _id(alice.write("window", "mornings", scope=scope, scope_id="one"))
    with sending(served) as sender:
        form = {"do": "correct", "id": fact_id, "value": "evenings"}
        assert "takes office" in sender.send("fact/preview", **form).text
        done = sender.send("fact/do", **form)
        assert done.status_code == 303, done.text
        new = alice.get(done.headers["location"].partition("id=")[2])
        assert new is not None
        assert (new.value, new.scope, new.scope_id) == ("evenings", scope, "one")
        assert alice.current("window") is None
        assert sender.send("fact/do", do="retract", id=new.id).status_code == 303
        gone = alice.get(new.id)
        assert gone is not None
        assert not gone.is_valid


def test_what_cannot_be_done_is_said_before(visit: Visit, memory: incumbent.Memory) -> None:
    """A person who may not settle a fact learns why, and nothing changes."""
    boss = memory.session(user_id="bob", organization="acme", authority="admin")
    policy = _id(boss.write("travel", "rail only", memory_type="organizational"))
    page = visit().open(f"/inspect/fact?id={policy}")
    page.get_by_role("button", name="Take back").click()
    expect(page.get_by_role("heading", name="This cannot be done")).to_be_visible()
    expect(page.locator(".problem")).to_contain_text("is the organization's")
    expect(page.get_by_role("button", name="Take it back")).to_have_count(0)
    assert boss.current("travel") == "rail only"


def test_a_value_of_another_kind_is_refused(served: Running, memory: incumbent.Memory) -> None:
    """The message says how to write it, and nothing changes."""
    alice = memory.session(**WHO)
    price = _id(alice.write("price", 12))
    with sending(served) as sender:
        for path in ("fact/preview", "fact/do"):
            answer = sender.send(path, do="correct", id=price, value="twelve")
            assert answer.status_code == 422
            assert "is not JSON" in answer.text
        assert sender.send("fact/do", do="explode", id=price).status_code == 422
    assert alice.current("price") == 12


def test_what_is_undone_already_is_said(served: Running, memory: incumbent.Memory) -> None:
    """Two people may press at once; the second learns of the first."""
    alice = memory.session(**WHO)
    verdict = alice.write("city", "Bern")
    with sending(served) as sender:
        assert sender.send("undo", verdict=verdict.id).status_code == 303
        again = sender.send("undo", verdict=verdict.id)
        assert again.status_code == 409
        assert "undone already" in again.text
        assert sender.get(f"undo?verdict={verdict.id}").status_code == 409
