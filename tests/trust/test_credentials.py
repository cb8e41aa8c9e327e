"""Credentials: what was taken back is not believed for long, an answer that is given again is given
to whoever may have it, and no header of a delivery does more than be refused."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent.audit.webhook import is_signed, signature
from incumbent.http.configuration import Service, Tokens
from incumbent.http.credentials import Gate
from incumbent.http.problems import Refusal
from tests.conftest import QUICK
from tests.numbers import tells_number
from tests.service.running import Running, problem
from tests.service.test_tokens import CURVE, ISSUER, Issuer, jwks, signed


class Clock:
    """Seconds that only the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


_TOMORROW = int(time.time()) + 86_400  # made once for a run that may take long
ONE, TWO = signed(exp=_TOMORROW), signed(CURVE, "ES256", "two", exp=_TOMORROW)


def kept(*names: str) -> str:
    """A key set with some of the keys."""
    return json.dumps({"keys": [key for key in jwks()["keys"] if key["kid"] in names]})


def believes(gate: Gate, token: str) -> bool:
    try:
        gate.admit(f"Bearer {token}")
    except Refusal:
        return False
    return True


class TestAKeySetInAFile:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "keys.json"
        path.write_text(kept("one", "two"))
        return path

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def gate(self, path: Path, clock: Clock) -> Iterator[Gate]:
        tokens = Tokens(issuer=ISSUER, audience="incumbent", keys=str(path))
        with incumbent.open(":memory:", settings=QUICK) as memory:
            yield Gate(memory, Service(credentials=True, tokens=tokens), clock)

    def test_loses_a_key_within_ten_seconds(self, path: Path, gate: Gate, clock: Clock) -> None:
        """A key that was taken out is not believed any more, and the others are; also where the
        file says that it was not changed."""
        assert believes(gate, ONE)
        assert believes(gate, TWO)
        before = path.stat()
        path.write_text(kept("two"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        clock.now += 10
        assert not believes(gate, ONE)
        assert believes(gate, TWO)

    def test_gains_a_key_at_once(self, path: Path, gate: Gate, clock: Clock) -> None:
        """A token that names a key nobody has seen makes us look, once a second at most."""
        path.write_text(kept("two"))
        assert not believes(gate, ONE)
        path.write_text(kept("one", "two"))
        assert not believes(gate, ONE)
        clock.now += 1
        assert believes(gate, ONE)

    @pytest.mark.parametrize(
        "left", [None, "", "{", '{"keys": []}', "[]", '{"keys": [{"kty": 1}]}']
    )
    def test_that_is_gone_counts_for_a_minute(
        self, path: Path, gate: Gate, clock: Clock, left: str | None
    ) -> None:
        """One that is just being written locks nobody out, and one that is gone lets nobody in for
        long; as soon as it is back, so are its keys."""
        assert believes(gate, ONE)
        if left is None:
            path.unlink()
        else:
            path.write_text(left)
        clock.now += 30
        assert believes(gate, ONE)
        clock.now += 30
        assert not believes(gate, ONE)
        path.write_text(kept("one"))
        clock.now += 1
        assert believes(gate, ONE)


class TestAKeySetAtAnAddress:
    @pytest.fixture
    def issuer(self) -> Iterator[Issuer]:
        made = Issuer()
        yield made
        made.stop()

    def test_loses_a_key_within_a_minute(self, issuer: Issuer) -> None:
        """Where the issuer answers. Where it does not, its last keys count for an hour."""
        clock = Clock()
        tokens = Tokens(issuer=ISSUER, audience="incumbent", keys=issuer.address)
        with incumbent.open(":memory:", settings=QUICK) as memory:
            gate = Gate(memory, Service(credentials=True, tokens=tokens), clock)
            assert believes(gate, ONE)
            issuer.keys = json.loads(kept("two"))
            clock.now += 60
            assert not believes(gate, ONE)
            assert believes(gate, TWO)
            issuer.works = False
            clock.now += 3599
            assert believes(gate, TWO)
            clock.now += 1
            assert not believes(gate, TWO)


MUCH: dict[str, Any] = {
    "scope": "read write erase review",
    "permissions": ["hr", "travel"],
    "authority": "manager",
    "department": "sales",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service that believes tokens, which say anew each time what they are good for."""
    folder = tmp_path_factory.mktemp("answers")
    (folder / "keys.json").write_text(kept("one"))
    tokens = Tokens(issuer=ISSUER, audience="incumbent", keys=str(folder / "keys.json"))
    with (
        incumbent.open(folder / "agent.db", settings=QUICK) as memory,
        Running(memory, credentials=True, tokens=tokens) as running,
    ):
        yield running


class TestAnAnswerGivenAgain:
    @pytest.mark.parametrize(
        "changes",
        [
            {"permissions": ["travel"]},
            {"permissions": None},
            {"permissions": ["travel", "payroll"]},
            {"scope": "read write"},
            {"authority": "employee"},
            {"authority": "no such rung"},
            {"department": "support"},
            {"department": None},
        ],
        ids=str,
    )
    def test_is_not_given_to_who_is_good_for_less(
        self, service: Running, changes: dict[str, Any]
    ) -> None:
        """The same person with a token that carries less: what the answer shows was for more."""
        name = hashlib.sha256(str(changes).encode()).hexdigest()[:8]
        body = {"key": f"pay_{name}", "value": "CANARY-PAY", "requires": ["hr"]}
        first = service.post("write", body, key=signed(**MUCH), Idempotency_Key=name)
        assert first.status_code == 200, first.text
        less = signed(**{**MUCH, **changes})
        refused = service.post("write", body, key=less, Idempotency_Key=name)
        problem(refused, 403, "NotPermitted")
        assert "CANARY" not in refused.text
        again = service.post("write", body, key=signed(**MUCH), Idempotency_Key=name)
        assert again.content == first.content

    def test_takes_the_scope_of_its_operation(self, service: Running) -> None:
        """A credential that lost it gets nothing, as for a request that it never made."""
        body = {"key": "desk", "value": 4}
        service.post("write", body, key=signed(**MUCH), Idempotency_Key="desk")
        reader = signed(**{**MUCH, "scope": "read"})
        problem(service.post("write", body, key=reader, Idempotency_Key="desk"), 403)

    def test_is_given_to_who_is_good_for_more(self, service: Running) -> None:
        """More rights than then are no hindrance, and the request is still done once."""
        body = {"key": "lamp", "value": "blue"}
        first = service.post("write", body, key=signed(**MUCH), Idempotency_Key="lamp")
        more = {
            "scope": f"{MUCH['scope']} admin",
            "permissions": [*MUCH["permissions"], "payroll"],
            "authority": "executive",
        }
        token = signed(**{**MUCH, **more})
        again = service.post("write", body, key=token, Idempotency_Key="lamp")
        assert again.content == first.content
        assert again.headers["idempotency-replayed"] == "true"

    def test_tells_after_a_restart_no_more_than_may_be_seen(self, tmp_path: Path) -> None:
        """A turn that is recognised by what is stored gives the facts and verdicts that whoever
        asks may see now."""
        with incumbent.open(tmp_path / "agent.db", settings=QUICK) as memory:
            much = memory.session(user_id="ann", permissions=["hr"], session_id="s")
            memory.declare("salary", requires=["hr"])
            first = much.observe("My salary is 4711 francs. My desk is 4.", ref="m-1")
            less = memory.session(user_id="ann", session_id="s")
            again = less.observe("My salary is 4711 francs. My desk is 4.", ref="m-1")
            assert again.repeated
            assert tells_number(repr(first), 4711)
            assert not tells_number(repr(again), 4711)
            seen = {fact.id for fact in again.facts}
            assert {verdict.fact_id for verdict in again.verdicts} <= seen
            assert len(again.verdicts) < len(first.verdicts)


NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SECRET, BODY = b"a secret of some length", b'{"seq": 1}'
SOUND = signature(SECRET, BODY, NOW)
SECONDS, MAC = SOUND.removeprefix("t=").split(",v1=")


class TestTheHeaderOfADelivery:
    @pytest.mark.parametrize(
        "header",
        [
            None,
            "",
            "=",
            ",,,",
            "t,v1",
            "t=,v1=",
            f"v1={MAC}",
            f"t={SECONDS}",
            f"t={'9' * 400},v1={MAC}",
            f"t={'9' * 5000},v1={MAC}",
            f"t=-{'9' * 400},v1={MAC}",
            f"t=inf,v1={MAC}",
            f"t=1e3,v1={MAC}",
            f"t={SECONDS}.0,v1={MAC}",
            f"t=+{SECONDS},v1={MAC}",
            f"t={SECONDS[0]}_{SECONDS[1:]},v1={MAC}",
            f"t={SECONDS.translate({48 + n: 0x660 + n for n in range(10)})},v1={MAC}",
            f"t={SECONDS},v1={MAC[:-1]}é",
            f"t={SECONDS},v1={MAC[:-1]}\ud800",
            f"t={SECONDS},v1={MAC}\x00",
            f"t={SECONDS},v1={MAC.upper()}",
            f"t=\x00,v1={MAC}",
            "\udcff" * 40,
        ],
        ids=lambda header: ascii(header)[:30],
    )
    def test_that_is_none_is_refused(self, header: str | None) -> None:
        """Whatever anybody sends: the answer is no, and never an error."""
        assert is_signed(SECRET, BODY, header, NOW) is False

    def test_that_is_sound_is_accepted(self) -> None:
        """With other parts around the two that count, as a later version may have."""
        assert is_signed(SECRET, BODY, SOUND, NOW)
        assert is_signed(SECRET, BODY, f"v0=old,{SOUND},v2=new", NOW)
