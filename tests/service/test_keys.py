"""What a key is good for, and that nothing a request says goes beyond it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

import incumbent
from incumbent.http.metrics import Metrics
from incumbent.operations import OPERATIONS, Operation
from incumbent.stores.exports import header_of, sealed
from incumbent.telemetry.prometheus import Prometheus
from tests.conftest import QUICK
from tests.patience import PATIENCE
from tests.service.conftest import ON_DISK, Start
from tests.service.running import PLAIN, Running, Talk, a_key, problem

BOB: dict[str, Any] = {"session": {"user_id": "bob"}}


def body_of(operation: Operation) -> dict[str, Any]:
    return {**BOB, **operation.example}


def everything(memory: incumbent.Memory) -> list[Any]:
    """All that is stored of the two organizations."""
    return [list(memory.export("acme")), list(memory.export("globex"))]


@pytest.mark.parametrize("store", ON_DISK)
def test_a_key_lets_in_and_nothing_else_does(
    start: Start, store: str, request: pytest.FixtureRequest, store_path: Any
) -> None:
    """No key, a wrong one, a revoked one, one that has run out: 401 with the same words, and
    nothing changed."""
    where = str(store_path)
    if store == "postgres":
        where = request.getfixturevalue("databases").empty()
    with incumbent.open(where, settings=QUICK) as memory:
        service = start(memory, credentials=True)
        good = a_key(memory)
        revoked = a_key(memory)
        memory.store.revoke_key(revoked.split("_")[1], memory.now())
        brief = a_key(memory, expires_at=memory.now() + timedelta(milliseconds=1))
        wrong = good[:-1] + ("A" if good[-1] != "A" else "B")
        unknown = "incumbent_" + "0" * 32 + good[39:]
        before = everything(memory)
        written = {**BOB, "key": "a", "value": 1}
        told = set()
        for shown in (wrong, unknown, revoked, brief, "x", good.upper(), good[:-1], f"{good}x"):
            refused = problem(service.post("write", written, key=shown), 401, "Unauthenticated")
            told.add(refused["detail"])
        assert len(told) == 1, "which of them it is helps only those who try"
        none = service.post("write", written)
        problem(none, 401)
        assert none.headers["www-authenticate"].startswith("Bearer")
        assert everything(memory) == before
        assert service.post("write", written, key=good).status_code == 200


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.path)
def test_no_operation_is_open_to_strangers(guarded: Running, operation: Operation) -> None:
    """Each of them asks for a credential before it looks at anything else."""
    problem(guarded.post(operation.path, body_of(operation)), 401)
    problem(guarded.post(operation.path, b"{"), 401)


@pytest.mark.parametrize("path", ["observe/stream", "export", "import"])
def test_no_stream_is_open_to_strangers(guarded: Running, path: str) -> None:
    """The same for the streams."""
    kind = "application/json" if path == "export" else "application/x-ndjson"
    problem(guarded.post(path, b"{}\n", Content_Type=kind), 401)


def test_what_the_whole_service_counts_is_not_for_one_organization(start: Start) -> None:
    """The metrics take a scope of their own: an organization's administrator does not read how
    much others do."""
    service = start(credentials=True, metrics=Metrics(Prometheus()))
    admin = a_key(service.memory, "read", "write", "review", "erase", "admin")
    shown = {
        name: {"Authorization": f"Bearer {key}"} if key else {}
        for name, key in {
            "nobody": None,
            "admin": admin,
            "scraper": a_key(service.memory, "metrics"),
        }.items()
    }
    with httpx.Client(base_url=service.address, **PLAIN, timeout=PATIENCE) as client:
        problem(client.get("/metrics", headers=shown["nobody"]), 401)
        problem(client.get("/metrics", headers=shown["admin"]), 403)
        told = client.get("/metrics", headers=shown["scraper"])
        assert told.status_code == 200
        assert "incumbent_http_requests_total" in told.text
        client.get("/v1/nowhere")
        client.get("/v1/write")
        told = client.get("/metrics", headers=shown["scraper"])
        assert 'incumbent_http_requests_total{path="other",status="404"} 1.0' in told.text
        assert 'incumbent_http_requests_total{path="/v1/write",status="405"} 1.0' in told.text


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.path)
def test_a_key_without_the_scope_of_an_operation_is_refused(
    guarded: Running, operation: Operation
) -> None:
    """All other scopes together do not make up for it."""
    others = [s for s in ("read", "write", "review", "erase", "admin") if s != operation.scope]
    key = a_key(guarded.memory, *others)
    refused = problem(guarded.post(operation.path, body_of(operation), key=key), 403)
    assert operation.scope in refused["detail"]


@pytest.mark.parametrize("path", ["export", "import"])
def test_a_whole_organization_takes_the_scope_admin(guarded: Running, path: str) -> None:
    """Reading and writing are not enough to take everything out or put it in."""
    key = a_key(guarded.memory, "read", "write", "review", "erase")
    kind = "application/json" if path == "export" else "application/x-ndjson"
    problem(guarded.post(path, b"{}", key=key, Content_Type=kind), 403)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.path)
def test_a_key_of_one_organization_reaches_no_other(guarded: Running, operation: Operation) -> None:
    """Naming another organization is refused, whatever the scopes."""
    key = a_key(guarded.memory, "read", "write", "review", "erase", "admin")
    body = {**operation.example, "session": {"user_id": "bob", "organization": "globex"}}
    before = everything(guarded.memory)
    problem(guarded.post(operation.path, body, key=key), 403, "NotPermitted")
    assert everything(guarded.memory) == before


def test_what_another_organization_knows_is_not_there(guarded: Running) -> None:
    """Ids of another organization are unknown, in the words used for ids that nobody has."""
    other = guarded.memory.session(user_id="bob", organization="globex", authority="manager")
    fact = other.write("secret_plan", "CANARY-PLAN")
    receipt = other.context("plan?", record=True).receipt.id
    key = a_key(guarded.memory, "read", "write", "review", "erase", "admin")
    asked: list[tuple[str, dict[str, Any]]] = [
        ("get", {"fact_id": fact.fact_id}),
        ("explain", {"key_or_id": fact.fact_id}),
        ("undo", {"verdict": fact.id}),
        ("retract", {"key_or_id": fact.fact_id}),
        ("resolve", {"fact_id": fact.fact_id, "still_right": True}),
        ("revert", {"key_or_id": fact.fact_id}),
        ("promote", {"key_or_id": fact.fact_id}),
        ("receipt", {"receipt_id": receipt}),
        ("replay", {"receipt": receipt}),
        ("compare", {"earlier": receipt, "later": receipt}),
        ("write", {"key": "mine", "value": 1, "supersedes": fact.fact_id}),
        ("write", {"key": "mine", "value": 1, "depends_on": [fact.fact_id]}),
        ("forget", {"fact_id": fact.fact_id}),
        ("context", {"query": "What is the secret plan?"}),
    ]
    for name, given in asked:
        answer = guarded.post(name, {**BOB, **given}, key=key)
        assert "CANARY" not in answer.text, name
        if answer.status_code == 200:
            assert name in ("get", "forget", "context"), name
    assert guarded.post("get", {**BOB, "fact_id": fact.fact_id}, key=key).json() is None
    assert other.current("secret_plan") == "CANARY-PLAN"
    nobody = guarded.post("explain", {**BOB, "key_or_id": "0" * 36}, key=key).json()["detail"]
    theirs = guarded.post("explain", {**BOB, "key_or_id": fact.fact_id}, key=key).json()["detail"]
    assert theirs.replace(fact.fact_id, "0" * 36) == nobody


def test_an_id_taken_in_another_organization_is_free_here(guarded: Running) -> None:
    """Whether somebody else uses an id cannot be found out by using it."""
    theirs = guarded.memory.session(user_id="eve", organization="globex")
    theirs.write("a", 1, id="fact-1")
    key = a_key(guarded.memory)
    mine = guarded.post("write", {**BOB, "key": "a", "value": 2, "id": "fact-1"}, key=key)
    assert mine.status_code == 200, mine.text
    assert theirs.current("a") == 1


@pytest.mark.parametrize("authority", ["executive", "policy", "CEO", "CFO"])
def test_no_request_raises_its_authority(guarded: Running, authority: str) -> None:
    """Neither the session nor a single call speaks for more than the key does."""
    key = a_key(guarded.memory)
    raised = {"session": {"user_id": "bob", "authority": authority}, "key": "a", "value": 1}
    before = everything(guarded.memory)
    problem(guarded.post("write", raised, key=key), 403, "NotPermitted")
    asked: list[tuple[str, dict[str, Any]]] = [
        ("write", {"key": "a", "value": 1, "authority": authority}),
        ("write_many", {"writes": [{"key": "a", "value": 1, "authority": authority}]}),
        ("observe", {"text": "The price is $5.", "authority": authority}),
        ("observe_many", {"turns": [{"text": "The price is $5.", "authority": authority}]}),
    ]
    for name, given in asked:
        problem(guarded.post(name, {**BOB, **given}, key=key), 403, "NotPermitted")
    assert everything(guarded.memory) == before


def test_neither_a_source_nor_a_type_lends_authority(guarded: Running) -> None:
    """What names a high source, is of the organization, or names a target, still counts as its
    writer does: the ruling stands."""
    board = guarded.memory.session(user_id="board", organization="acme", authority="policy")
    ruling = board.write("travel_policy", "economy")
    key = a_key(guarded.memory, max_authority="employee")
    source = {"type": "policy", "name": "Board", "authority": "policy"}
    for given in (
        {"source": "policy"},
        {"source": source},
        {"memory_type": "organizational"},
        {"is_constraint": True, "constraint_type": "policy"},
        {"supersedes": ruling.fact_id},
        {"supersedes": "travel_policy"},
        {"when_superseded": "travel_policy"},
        {"valid_from": "2030-01-01T00:00:00Z"},
        {"at": "2030-01-01T00:00:00Z"},
        {"scope": "task", "scope_id": "t"},
    ):
        body = {**BOB, "key": "travel_policy", "value": "first class", **given}
        answer = guarded.post("write", body, key=key)
        assert answer.status_code in (200, 403, 422), answer.text
        assert board.current("travel_policy") == "economy", given
        current = guarded.post("current", {**BOB, "key": "travel_policy"}, key=key)
        assert current.json() == "economy", given


def test_a_permission_that_the_key_lacks_cannot_be_claimed(guarded: Running) -> None:
    """Asking for it is refused, and without it what needs it is not there."""
    hr = guarded.memory.session(
        user_id="hr", organization="acme", authority="manager", permissions=["payroll"]
    )
    hr.write(
        "salary", "CANARY-90k", subject="bob", requires=["payroll"], memory_type="organizational"
    )
    key = a_key(guarded.memory, permissions=["travel"])
    for said in (["payroll"], ["travel", "payroll"], ["authority:policy"], ["authority:*"]):
        claimed = {"session": {"user_id": "bob", "permissions": said}, "key": "salary"}
        problem(guarded.post("current", claimed, key=key), 403, "NotPermitted")
    for name, given in (
        ("current", {"key": "salary", "subject": "bob"}),
        ("facts", {}),
        ("context", {"query": "What is bob's salary?"}),
        ("history", {"key": "salary", "subject": "bob"}),
    ):
        assert "CANARY" not in guarded.post(name, {**BOB, **given}, key=key).text
    able = a_key(guarded.memory, permissions=["payroll"])
    found = guarded.post("current", {**BOB, "key": "salary", "subject": "bob"}, key=able)
    assert found.json() == "CANARY-90k"


def test_a_key_of_one_person_speaks_for_no_other(guarded: Running) -> None:
    """Naming somebody else is refused; naming nobody is that person."""
    ann = guarded.memory.session(user_id="ann", organization="acme")
    ann.write("phone", "CANARY-555")
    key = a_key(guarded.memory, "read", "write", "review", user_id="bob")
    as_ann = {"session": {"user_id": "ann"}, "key": "phone"}
    problem(guarded.post("current", as_ann, key=key), 403, "NotPermitted")
    assert guarded.post("current", {"key": "phone"}, key=key).json() is None
    made = guarded.post("write", {"key": "phone", "value": "1"}, key=key).json()
    got = guarded.post("get", {"fact_id": made["fact_id"]}, key=key).json()
    assert got["owner"] == "bob"
    assert ann.current("phone") == "CANARY-555"


def test_a_key_of_one_person_has_only_what_is_theirs_forgotten(guarded: Running) -> None:
    """Not what somebody else owns, by whatever way it is named."""
    ann = guarded.memory.session(user_id="ann", organization="acme")
    bob = guarded.memory.session(user_id="bob", organization="acme")
    hers = ann.write("phone", "555-0100", subject="desk 7")
    bob.write("phone", "555-0200")
    key = a_key(guarded.memory, "erase", user_id="bob")
    problem(guarded.post("forget", {"user_id": "ann"}, key=key), 403)
    guarded.post("forget", {"fact_id": hers.fact_id}, key=key)
    guarded.post("forget", {"subject": "desk 7"}, key=key)
    assert ann.current("phone", "desk 7") == "555-0100"
    assert guarded.post("forget", {}, key=key).json()["removed"]["facts"] == 1
    assert bob.current("phone") is None


def test_receipts_are_of_the_person_who_was_shown_them(guarded: Running) -> None:
    """Nobody else reads, replays or compares them, but for an admin who speaks for nobody."""
    memory = guarded.memory
    ann = memory.session(user_id="ann", organization="acme")
    ann.write("phone", "CANARY-555")
    receipt = ann.context("What is my phone?", record=True).receipt.id
    key = a_key(memory)
    for name, given in (
        ("receipt", {"receipt_id": receipt}),
        ("replay", {"receipt": receipt}),
        ("compare", {"earlier": receipt, "later": receipt}),
    ):
        answer = guarded.post(name, {**BOB, **given}, key=key)
        problem(answer, 404)
        assert "CANARY" not in answer.text
        bound = guarded.post(name, given, key=a_key(memory, user_id="bob"))
        problem(bound, 404)
        problem(guarded.post(name, given, key=key), 422)
    assert guarded.post("receipts", BOB, key=key).json() == []
    admin = a_key(memory, "read", "admin")
    assert "CANARY" in guarded.post("replay", {"receipt": receipt}, key=admin).text


def test_a_receipt_shows_no_more_than_the_key_may_read(guarded: Running) -> None:
    """What the same person was shown with a permission is not shown again without it."""
    memory = guarded.memory
    able = a_key(memory, permissions=["payroll"])
    plain = a_key(memory)
    fact = {"key": "salary", "value": "CANARY-90k", "requires": ["payroll"]}
    assert guarded.post("write", {**BOB, **fact}, key=able).status_code == 200
    asked = {**BOB, "query": "What is my salary?", "record": True}
    receipt = guarded.post("context", asked, key=able).json()["receipt_id"]
    assert "CANARY" in guarded.post("replay", {**BOB, "receipt": receipt}, key=able).text
    for name, given in (
        ("receipt", {"receipt_id": receipt}),
        ("replay", {"receipt": receipt}),
        ("compare", {"earlier": receipt, "later": receipt}),
        ("receipts", {}),
    ):
        assert "CANARY" not in guarded.post(name, {**BOB, **given}, key=plain).text
    assert guarded.post("receipts", BOB, key=plain).json() == []
    assert len(guarded.post("receipts", BOB, key=able).json()) == 1


def test_a_declaration_takes_the_one_who_runs_the_service(guarded: Running) -> None:
    """It holds for every organization: no key of one makes it, and no import brings it."""
    import json

    key = a_key(guarded.memory, "read", "write", "review", "erase", "admin")
    refused = guarded.post("declare", {"key": "*", "requires": ["nobody"]}, key=key)
    problem(refused, 403, "NotPermitted")
    declaration = {
        "kind": "declaration",
        "pattern": "*",
        "multi_valued": False,
        "time_sensitive": False,
        "write_authority": None,
        "requires": ["nobody"],
    }
    records = sealed([header_of("acme"), declaration])
    body = "".join(json.dumps(one) + "\n" for one in records).encode()
    done = guarded.post("import", body, key=key, Content_Type="application/x-ndjson")
    assert done.status_code == 200, done.text
    other = guarded.memory.session(user_id="eve", organization="globex")
    other.write("a", 1)
    assert other.current("a") == 1


def test_an_import_goes_into_the_organization_of_the_key(guarded: Running) -> None:
    """Whatever its header says, and not where a request says otherwise."""
    import json

    key = a_key(guarded.memory, "admin")
    body = "".join(json.dumps(one) + "\n" for one in sealed([header_of("globex")])).encode()
    kind = "application/x-ndjson"
    elsewhere = guarded.post("import?organization=globex", body, key=key, Content_Type=kind)
    problem(elsewhere, 403, "NotPermitted")
    assert guarded.post("import", body, key=key, Content_Type=kind).json() == {"records": 0}


def test_asking_in_words_erases_nothing_without_the_scope(guarded: Running) -> None:
    """A turn that asks for something to be forgotten takes it back; only a key with `erase` has it
    erased."""
    memory = guarded.memory
    bob = memory.session(user_id="bob", organization="acme")
    writer, eraser = a_key(memory), a_key(memory, "write", "erase")
    bob.observe("My phone number is 555-0100.")
    asked = {**BOB, "text": "Forget my phone number."}
    turn = guarded.post("observe", asked, key=writer).json()
    assert turn["erasures"] == []
    assert bob.current("phone_number") is None
    assert memory.store.erasures("acme") == []
    bob.observe("My phone number is 555-0200.")
    assert guarded.post("observe", asked, key=eraser).json()["erasures"] != []
    assert len(memory.store.erasures("acme")) >= 1


def test_the_first_key_closes_a_service_that_was_open(service: Running) -> None:
    """As soon as there is a key, every caller needs one, also where the service runs already."""
    import time

    body = {**BOB, "key": "a", "value": 1}
    assert service.post("write", body).status_code == 200
    key = a_key(service.memory, organization="default")
    time.sleep(1.1)
    problem(service.post("write", body), 401)
    assert service.post("write", body, key=key).status_code == 200


def test_a_revoked_key_ends_the_stream_that_it_opened(guarded: Running) -> None:
    """The next turn of it is refused."""
    key = a_key(guarded.memory)
    with Talk(guarded, key) as talk:
        talk.send(BOB, {"text": "My desk is 1."})
        assert talk.next()["turn_index"] == 1
        guarded.memory.store.revoke_key(key.split("_")[1], guarded.memory.now())
        talk.send({"text": "My desk is 2."})
        assert talk.next()["problem"]["status"] == 401
    bob = guarded.memory.session(user_id="bob", organization="acme")
    assert len(bob.history("desk")) == 1


def test_one_key_in_a_hurry_slows_no_other(start: Start) -> None:
    """Who asks too often is told when to come back; others are served meanwhile."""
    service = start(credentials=True, rate=0.001, burst=3)
    hasty, calm = a_key(service.memory), a_key(service.memory)
    body = {**BOB, "key": "a"}
    statuses = [service.post("current", body, key=hasty).status_code for _ in range(5)]
    assert statuses[:3] == [200, 200, 200]
    assert statuses[-1] == 429
    told = service.post("current", body, key=hasty)
    problem(told, 429, "TooManyRequests")
    assert int(told.headers["retry-after"]) >= 1
    assert service.post("current", body, key=calm).status_code == 200
