"""Turns and messages: a changed turn is no repetition, what is kept of words goes with them, and a
message that no text can be gets an answer."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import incumbent
from incumbent.model.records import Turn
from incumbent.turns.repeating import digest_of, mark_of, may_say
from tests.conftest import QUICK
from tests.mcp.clients import identity, listen
from tests.numbers import tells_number
from tests.patience import PATIENCE
from tests.service.conftest import start
from tests.service.running import PLAIN, PROGRAM, Running, environment, problem

assert start  # a fixture
SAID = "My locker is {}."


def old_digest(text: str, speaker: str = "user") -> str:
    """As versions before this one kept it: sixteen bits."""
    return hashlib.sha256(f"{speaker}\n{text}".encode()).hexdigest()[:4]


def collision() -> tuple[str, str]:
    """Two turns that sixteen bits do not tell apart."""
    seen: dict[str, str] = {}
    for number in range(100_000):
        text = SAID.format(number)
        other = seen.setdefault(old_digest(text), text)
        if other != text:
            return other, text
    raise AssertionError("sixteen bits tell everything apart")


def turns(memory: incumbent.Memory, user: str = "alice", session: str = "s") -> list[Turn]:
    with memory.store.read("acme") as reader:
        return reader.turns(user, session, 99)


def session(memory: incumbent.Memory, user: str = "alice", name: str = "s") -> incumbent.Session:
    return memory.session(user_id=user, organization="acme", session_id=name)


@pytest.fixture
def quick() -> Iterator[incumbent.Memory]:
    with incumbent.open(":memory:", settings=QUICK) as memory:
        yield memory


class TestARepeatedTurn:
    def test_that_says_something_else_is_never_taken_for_the_same(
        self, quick: incumbent.Memory
    ) -> None:
        """Also where a short digest of both is the same."""
        one, other = collision()
        alice = session(quick)
        alice.observe(one, ref="m-1")
        with pytest.raises(incumbent.InvalidInput, match="'m-1' was used for another turn"):
            alice.observe(other, ref="m-1")
        assert alice.observe(one, ref="m-1").repeated

    def test_has_a_digest_of_128_bits_that_no_other_turn_shares(
        self, quick: incumbent.Memory
    ) -> None:
        """The same words twice have nothing in common; a turn that nothing can repeat has none."""
        alice = session(quick)
        for ref in ("m-1", "m-2", None):
            alice.observe("My desk is 4.", ref=ref)
        first, second, unnamed = (turn.digest for turn in turns(quick))
        for digest in (first, second):
            mark, _, kept = digest.partition("$")
            assert (len(bytes.fromhex(mark)), len(bytes.fromhex(kept))) == (8, 16)
        assert first.partition("$")[0] != second.partition("$")[0]
        assert first.partition("$")[2] != second.partition("$")[2]
        assert unnamed == f"{mark_of(unnamed)}$"

    def test_of_an_earlier_version_is_still_known(self, quick: incumbent.Memory) -> None:
        """By what was kept of it then."""
        alice = session(quick)
        alice.observe("My desk is 4.", ref="m-1")
        with quick.store.write("acme") as transaction:
            (turn,) = transaction.turns("alice", "s", 9)
            transaction.put_turn("alice", replace(turn, digest=old_digest("My desk is 4.")))
        assert alice.observe("My desk is 4.", ref="m-1").repeated
        with pytest.raises(incumbent.InvalidInput, match="another turn"):
            alice.observe("My desk is 5.", ref="m-1")

    def test_is_compared_with_who_spoke(self) -> None:
        """The same words of somebody else are another turn."""
        digest = digest_of("user", "My desk is 4.", "m-1")
        assert may_say(digest, "user", "My desk is 4.")
        assert not may_say(digest, "assistant", "My desk is 4.")
        assert not may_say(digest, "user", "My desk is 4. ")


class TestWordsThatWereForgotten:
    def test_leave_nothing_that_confirms_a_guess(self, memory: incumbent.Memory) -> None:
        """Neither the turn that said them nor one that said them again has a digest any more; the
        turns of others keep theirs."""
        alice, ben = session(memory), session(memory, "ben")
        made = alice.observe("My locker is 4711.", ref="m-1")
        alice.observe("Noted: locker 4711.", speaker="assistant", ref="m-2")
        session(memory, name="later").observe("My desk is 4.", ref="m-3")
        ben.observe("My lamp is blue.", ref="m-1")
        before = [*turns(memory), *turns(memory, session="later"), *turns(memory, "ben")]
        assert all(len(turn.digest) == 49 for turn in before)
        memory.forget(organization="acme", fact_id=made.facts[0].id)
        after = [*turns(memory), *turns(memory, session="later"), *turns(memory, "ben")]
        assert [turn.digest for turn in after[:3]] == [f"{mark_of(t.digest)}$" for t in before[:3]]
        assert after[3] == before[3]

    def test_are_still_known_by_their_ref(self, memory: incumbent.Memory) -> None:
        """A client that sends the turn once more does not bring back what was forgotten."""
        alice = session(memory)
        made = alice.observe("My locker is 4711.", ref="m-1")
        memory.forget(organization="acme", fact_id=made.facts[0].id)
        again = alice.observe("My locker is 4711.", ref="m-1")
        assert (again.repeated, again.facts) == (True, ())
        assert not tells_number(json.dumps(list(memory.export("acme"))), 4711)


HALVES = {
    "a value": ("tools/call", r'{"name":"remember","arguments":{"key":"a","value":"x\ud800y"}}'),
    "a name": ("tools/call", r'{"name":"rem\uDFFFember","arguments":{}}'),
    "the wrong way round": ("tools/call", r'{"name":"history","arguments":{"key":"\udc00\ud800"}}'),
    "a resource": ("resources/read", r'{"uri":"incumbent://facts/\udabc"}'),
}
WHOLE = r'{"name":"history","arguments":{"key":"\ud83d\ude00 \\ud800"}}'
NO_MESSAGES = {
    "garbage": (None, -32700),
    "{": (None, -32700),
    "[" * 100_000: (None, -32700),
    "[]": (None, -32600),
    "5": (None, -32600),
    '{"jsonrpc":"2.0","id":7}': (7, -32600),
    '{"jsonrpc":"2.0","id":7,"method":5}': (None, -32600),
}
OPENING = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "a client", "version": "1"},
}


def message(number: int, method: str, params: str) -> str:
    return f'{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{params}}}'


def check_refused(answer: dict[str, Any], method: str) -> None:
    """The answer is ours, and for a tool one that a model gets to read."""
    if method == "tools/call":
        assert answer["result"]["isError"] is True
        told = answer["result"]["content"][0]["text"]
    else:
        told = answer["error"]["message"]
    assert "half of a character" in told


@contextmanager
def server(path: Path) -> Iterator[subprocess.Popen[str]]:
    """`incumbent mcp` over its standard streams."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "mcp", "--db", str(path), *identity()],
        env={**environment(), "INCUMBENT_EMBEDDER": "none"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class TestHalvesOfCharacters:
    @pytest.mark.slow
    def test_are_answered_over_the_standard_streams(self, tmp_path: Path) -> None:
        """Every call has its answer, and the next one is served."""
        with server(tmp_path / "agent.db") as process:

            def ask(line: str) -> Any:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(line + "\n")
                process.stdin.flush()
                return json.loads(process.stdout.readline())

            assert ask(message(0, "initialize", json.dumps(OPENING)))["id"] == 0
            for number, (method, params) in enumerate(HALVES.values(), 1):
                answer = ask(message(number, method, params))
                assert answer["id"] == number
                check_refused(answer, method)
            unnamed = ask(message(5, *HALVES["a value"]).replace('"id":5', r'"id":"\ud800"'))
            assert (unnamed["id"], unnamed["error"]["code"]) == (None, -32600)
            assert ask(message(6, "tools/call", WHOLE))["result"]["isError"] is False
            for line, (named, code) in NO_MESSAGES.items():
                answer = ask(line)
                assert (answer["id"], answer["error"]["code"]) == (named, code)
            assert ask("\n\n" + message(7, "ping", "{}")) == {
                "jsonrpc": "2.0",
                "id": 7,
                "result": {},
            }

    def test_are_answered_over_http(self, tmp_path: Path) -> None:
        """The same by way of a POST."""
        accepted = {"Accept": "application/json, text/event-stream"}
        with (
            listen(tmp_path / "agent.db") as service,
            httpx.Client(**PLAIN, timeout=PATIENCE, headers=accepted) as client,
        ):
            for number, (method, params) in enumerate(HALVES.values(), 1):
                for version in ("2025-06-18", "2026-07-28"):
                    found = client.post(
                        service.address,
                        content=message(number, method, params).encode(),
                        headers={
                            "Content-Type": "application/json",
                            "MCP-Protocol-Version": version,
                        },
                    )
                    answer = found.json()
                    assert (found.status_code, answer["id"]) == (200, number)
                    check_refused(answer, method)

    def test_are_refused_by_the_service(self, start: Any) -> None:
        """In a body, in a stream of turns and in an import, with a problem of ours."""
        service: Running = start()
        body = rb'{"session":{"user_id":"ann"},"key":"a","value":"x\ud800y"}'
        problem(service.post("write", body), 400, "InvalidInput")
        lines = b'{"session":{"user_id":"ann"}}\n' + rb'{"text":"My desk is \ud800."}' + b"\n"
        kind = "application/x-ndjson"
        told = service.post("observe/stream", lines, Content_Type=kind).json()
        assert told["problem"]["title"] == "InvalidInput"
        header = b'{"format":"incumbent-export","version":2,"organization":"new"}\n'
        kept = service.post("import", header + rb'{"kind":"\ud800"}' + b"\n", Content_Type=kind)
        problem(kept, 422, "InvalidInput")

    @pytest.mark.parametrize(
        "arguments",
        [
            ["write", "city", b"x\xffy"],
            ["write", b"x\xffy", "1"],
            ["observe", "--text", b"My desk is \xed\xa0\x80."],
            ["write", "city", "Bern", "--user", b"\xff"],
        ],
        ids=str,
    )
    def test_are_refused_on_the_command_line(self, tmp_path: Path, arguments: list[Any]) -> None:
        """An argument that is no text of this system is told in one line, with what is wrong."""
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            env={**environment(), "INCUMBENT_DB": str(tmp_path / "agent.db"), "LC_ALL": "C.UTF-8"},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 2
        assert done.stderr.count(b"\n") == 1
        assert b"lone surrogate" in done.stderr
