"""Files: an export that lost its end is none, what is made is its owner's alone, and damage is told
in words of ours."""

from __future__ import annotations

import json
import os
import random
import re
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app
from incumbent.stores.exports import sealed
from tests.conftest import QUICK
from tests.said import keep_said

Records = list[dict[str, Any]]
PAGE = 4096


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def run(*arguments: str, code: int = 0) -> Any:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, (arguments, result.output, result.exception)
    return result


@pytest.fixture
def records() -> Records:
    """An export with a declaration, a chain, an earlier tenure and a proof of erasure."""
    with incumbent.open(":memory:", settings=QUICK) as memory:
        memory.declare("tags", multi_valued=True)
        ann = memory.session(user_id="ann", organization="acme")
        ann.write("city", "Bern")
        ann.write("city", "Basel")
        ann.write("tags", "red")
        gone = ann.write("phone", "555-0100")
        memory.forget(organization="acme", fact_id=gone.fact_id)
        return json.loads(json.dumps(list(memory.export("acme"))))  # type: ignore[no-any-return]


class TestAnExport:
    def test_ends_with_how_many_records_it_has_and_their_digest(self, records: Records) -> None:
        """The last record tells of all the others, header and order included."""
        assert records[-1].keys() == {"kind", "records", "digest"}
        assert records[-1]["records"] == len(records) - 2
        assert list(sealed(records[:-1])) == records
        assert list(sealed([records[0], *reversed(records[1:-1])]))[-1] != records[-1]

    def test_cut_anywhere_is_refused(self, records: Records) -> None:
        """However many lines are left, nothing of it arrives; whole, it does."""
        for left in range(1, len(records)):
            with incumbent.open(":memory:", settings=QUICK) as copy:
                with pytest.raises(incumbent.InvalidInput, match=r"damaged|missing"):
                    copy.import_(records[:left])
                assert copy.store.organizations() == []
        with incumbent.open(":memory:", settings=QUICK) as copy:
            assert copy.import_(records) == len(records) - 2

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda lines: [*lines[:2], *lines[3:]],
            lambda lines: [*lines[:-1], lines[-2], lines[-1]],
            lambda lines: [*lines, *lines],
            lambda lines: [*lines, lines[-1]],
            lambda lines: [{**lines[0], "organization": "globex"}, *lines[1:]],
            lambda lines: json.loads(json.dumps(lines).replace("Basel", "Paris")),
            lambda lines: [*lines[:-1], {**lines[-1], "records": None}],
        ],
        ids=["lost", "twice", "two", "two ends", "renamed", "changed", "no count"],
    )
    def test_that_was_changed_on_the_way_is_refused(
        self, records: Records, spoil: Callable[[Records], Records]
    ) -> None:
        """A line that is gone, there twice or another one, and whatever follows the last."""
        with incumbent.open(":memory:", settings=QUICK) as copy:
            with pytest.raises(incumbent.InvalidInput):
                copy.import_(spoil(records))
            assert copy.store.organizations() == []

    def test_of_an_earlier_version_is_taken_only_on_purpose(self, records: Records) -> None:
        """It cannot tell that its end is missing; the message names what to say."""
        earlier = [{**records[0], "version": 1}, *records[1:-1]]
        with incumbent.open(":memory:", settings=QUICK) as copy:
            with pytest.raises(incumbent.InvalidInput, match=r"allow_unsealed=True"):
                copy.import_(earlier)
            assert copy.import_(earlier, allow_unsealed=True) == len(records) - 2
            assert copy.session(user_id="ann", organization="acme").current("city") == "Basel"

    def test_of_version_2_has_facts_without_a_name(self) -> None:
        """Up to then "statement" stood for none. Now it is a key like any other, of turns too."""
        told = incumbent.Source("conversation", turn_index=1, speaker="user", quote="due in May")
        with incumbent.open(":memory:", settings=QUICK) as memory:
            ann = memory.session(user_id="ann")
            keep_said(ann, "My cup is red.", told)
            keep_said(ann, "due in May", told, key="statement")
            records = list(memory.export("default"))
        text = json.dumps([{**records[0], "version": 2}, *records[1:-1]])
        earlier = json.loads(text.replace('"key": ""', '"key": "statement"'))
        for given, named in ((records, ["due in May"]), (list(sealed(earlier)), [])):
            with incumbent.open(":memory:", settings=QUICK) as copy:
                copy.import_(given)
                ann = copy.session(user_id="ann")
                assert [fact.value for fact in ann.facts("statement")] == named
                assert ann.facts("")[-1].value == "My cup is red."

    def test_of_this_version_needs_its_end_whatever_is_said(self, records: Records) -> None:
        """An option for old exports is no way around for new ones."""
        with (
            incumbent.open(":memory:", settings=QUICK) as copy,
            pytest.raises(incumbent.InvalidInput, match="its end is missing"),
        ):
            copy.import_(records[:-1], allow_unsealed=True)

    def test_is_checked_by_the_command_line_too(self, records: Records, tmp_path: Path) -> None:
        """A file that a full disk cut off is refused with the reason, and no store has it."""
        path, db = tmp_path / "acme.jsonl", str(tmp_path / "copy.db")
        lines = [json.dumps(record) + "\n" for record in records]
        path.write_text("".join(lines[:-1]))
        assert "its end is missing" in run("import", str(path), "--db", db, code=2).stderr
        path.write_text("".join(lines))
        run("import", str(path), "--db", db)
        earlier = [{**records[0], "version": 1}, *records[1:-1]]
        path.write_text("".join(json.dumps(record) + "\n" for record in earlier))
        told = run("import", str(path), "--db", db, "--org", "old", code=2).stderr
        assert "--allow-unsealed" in told
        run("import", str(path), "--db", db, "--org", "old", "--allow-unsealed")


IMPOSSIBLE: dict[str, tuple[str, dict[str, Any]]] = {
    "a number that no database holds": ("fact", {"seq": 2**63}),
    "a number that is none": ("verdict", {"seq": "1"}),
    "half a number": ("fact", {"since": 0.5}),
    "a time after which nothing can be recorded": (
        "verdict",
        {"recorded_at": "9999-12-31T23:59:59.999999+00:00"},
    ),
}


class TestAContradiction:
    """Refused where it stands, in every store, whatever the last line says: what follows is not
    even read."""

    @pytest.mark.parametrize("kind", ["fact", "verdict"])
    def test_of_a_record_that_comes_twice(
        self, records: Records, memory: incumbent.Memory, kind: str
    ) -> None:
        """The store has not seen the rest, and stays empty."""
        again = next(one for one in records if one["kind"] == kind)
        self._check([*records[:-1], again], memory, "comes twice")

    @pytest.mark.parametrize("what", IMPOSSIBLE)
    def test_of_what_no_store_can_hold(
        self, records: Records, memory: incumbent.Memory, what: str
    ) -> None:
        """Neither can it be written and be in the way later."""
        kind, changes = IMPOSSIBLE[what]
        wrong = {**next(one for one in records if one["kind"] == kind), **changes}
        self._check([records[0], wrong], memory, r"seq|since|recorded_at")

    @staticmethod
    def _check(given: Records, memory: incumbent.Memory, told: str) -> None:
        def stream() -> Iterator[dict[str, Any]]:
            yield from given
            pytest.fail("it reads on after what it must refuse")

        with pytest.raises(incumbent.InvalidInput, match=told):
            memory.import_(stream(), organization="elsewhere")
        assert list(memory.store.dump("elsewhere")) == []


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
class TestModes:
    def test_a_new_store_is_its_owners_alone(self, tmp_path: Path) -> None:
        """Also what SQLite puts beside it, and where the umask would let everybody read."""
        path = tmp_path / "agent.db"
        with umask(0), incumbent.open(path, settings=QUICK) as memory:
            memory.session(user_id="ann").write("city", "Bern")
            assert {name.name: mode(name) for name in tmp_path.iterdir()} == {
                "agent.db": 0o600,
                "agent.db-wal": 0o600,
                "agent.db-shm": 0o600,
            }

    def test_a_store_behind_a_link_is_too(self, tmp_path: Path) -> None:
        """A link to where no file is yet makes one there."""
        (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
        with umask(0), incumbent.open(tmp_path / "link.db", settings=QUICK):
            assert mode(tmp_path / "real.db") == 0o600

    @pytest.mark.parametrize("chosen", [0o640, 0o666])
    def test_a_store_that_is_there_keeps_its_mode(self, tmp_path: Path, chosen: int) -> None:
        """Whoever shares it with a group did so on purpose."""
        path = tmp_path / "agent.db"
        incumbent.open(path, settings=QUICK).close()
        path.chmod(chosen)
        with incumbent.open(path, settings=QUICK) as memory:
            memory.session(user_id="ann").write("city", "Bern")
            assert mode(path) == mode(tmp_path / "agent.db-wal") == chosen

    def test_an_export_is_its_owners_alone(self, tmp_path: Path) -> None:
        """A new one; also where an interrupted one has left a file for all to read. One that is
        replaced keeps its mode."""
        db, out = str(tmp_path / "agent.db"), tmp_path / "out.jsonl"
        run("write", "city", "Bern", "--db", db)
        with umask(0):
            (tmp_path / "out.jsonl.partial").write_text("half")
            run("export", str(out), "--db", db)
            assert mode(out) == 0o600
            out.chmod(0o640)
            run("export", str(out), "--db", db, "--force")
            assert mode(out) == 0o640

    def test_a_copy_is_its_owners_alone(self, tmp_path: Path) -> None:
        """`incumbent copy` makes stores like any other."""
        run("write", "city", "Bern", "--db", str(tmp_path / "agent.db"))
        with umask(0):
            run("copy", str(tmp_path / "agent.db"), str(tmp_path / "backup.db"))
        assert mode(tmp_path / "backup.db") == 0o600


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a store of many pages."""
    path = tmp_path_factory.mktemp("sound") / "sound.db"
    with incumbent.open(path, settings=QUICK) as memory:
        for user in ("ann", "ben"):
            session = memory.session(user_id=user, organization="acme")
            session.write_many(
                [{"key": f"key_{n}", "value": f"secret {n} " * 20} for n in range(80)]
            )
        session.context("which key?")
    return path.read_bytes()


def attempts(memory: incumbent.Memory) -> dict[str, Callable[[], Any]]:
    ann = memory.session(user_id="ann", organization="acme")
    keys = [f"key_{number}" for number in range(0, 80, 7)]
    return {
        "facts": ann.facts,
        "current": lambda: [ann.current(key) for key in keys],
        "context": lambda: ann.context("which key?"),
        "history": lambda: [ann.history(key) for key in keys],
        "explain": lambda: [ann.explain(key) for key in keys],
        "write": lambda: [ann.write(key, "new") for key in keys],
        "note": lambda: ann.note("lamp", "blue"),
        "export": lambda: list(memory.export("acme")),
        "audit": lambda: list(memory.audit("acme")),
        "forget": lambda: memory.forget(organization="acme", user_id="ben"),
        "reindex": lambda: memory.reindex("acme"),
        "check": memory.store.check,
    }


def failures(path: Path) -> dict[str, incumbent.IncumbentError]:
    """What goes wrong with a damaged store, by what was tried; an error of another's passes."""
    found: dict[str, incumbent.IncumbentError] = {}
    try:
        memory = incumbent.open(path, settings=QUICK)
    except incumbent.StoreError as error:
        return {"open": error}
    with memory:
        for name, attempt in attempts(memory).items():
            try:
                attempt()
            except incumbent.IncumbentError as error:
                found[name] = error
    return found


class TestADamagedStore:
    def test_is_told_in_words_of_ours_wherever_it_is_read(
        self, sound: bytes, tmp_path: Path
    ) -> None:
        """Whichever page is lost or scrambled: each call works, or says that the store is damaged
        and what to do. No error of the driver reaches anybody."""
        chance, damaged = random.Random(17), set()
        for number in range(1, len(sound) // PAGE, 5):
            lost = bytes(PAGE) if number % 2 else chance.randbytes(PAGE)
            path = tmp_path / f"damaged {number}.db"
            path.write_bytes(sound[: number * PAGE] + lost + sound[(number + 1) * PAGE :])
            for name, error in failures(path).items():
                assert isinstance(error, incumbent.StoreError), (name, error)
                if isinstance(error, incumbent.StoreDamaged):
                    assert re.search(r"incumbent doctor.*restore a backup", str(error))
                    damaged.add(name)
        assert damaged >= {"facts", "current", "context", "history", "write", "export", "forget"}

    @pytest.mark.parametrize(
        "scramble",
        [
            "value = CAST(x'227365637265742031ff22' AS TEXT)",
            "recorded_at = 9000000000000000000",
            "memory_type = 'none'",
            "source = '{'",
            "status = 7",
            "value = ''",
        ],
    )
    def test_is_told_where_a_row_is_none(self, sound: bytes, tmp_path: Path, scramble: str) -> None:
        """Bytes that SQLite takes for a row and that nobody wrote; the message quotes none of
        them, because who reads it need not be who may read the row."""
        path = tmp_path / "damaged.db"
        path.write_bytes(sound)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(f"UPDATE facts SET {scramble} WHERE key = 'key_7'")
        found = failures(path)
        assert {"facts", "history", "export"} <= found.keys()
        for name in ("facts", "history", "export"):
            assert isinstance(found[name], incumbent.StoreDamaged), (name, found[name])
        assert not [name for name, error in found.items() if "secret" in str(error)]

    def test_whose_schema_cannot_be_told_is_refused(self, sound: bytes, tmp_path: Path) -> None:
        """The driver fails to tell of it; ours does not."""
        path = tmp_path / "damaged.db"
        path.write_bytes(sound.replace(b"NOT NULL", b"NOT \x99\x99\x99\x99"))
        assert failures(path).keys() == {"open"}

    def test_is_examined_as_far_as_it_can_be_read(self, sound: bytes, tmp_path: Path) -> None:
        """`incumbent doctor` tells of the damage and still of what is whole."""
        path = tmp_path / "damaged.db"
        path.write_bytes(sound)
        with incumbent.open(path, settings=QUICK) as memory:
            memory.session(user_id="eve", organization="globex").write("city", "Bern")
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE facts SET source = '{' WHERE key = 'key_7'")
        told = json.loads(run("doctor", str(path), "--json", code=1).stdout)
        assert [one["organization"] for one in told["organizations"]] == ["globex"]
        assert [one for one in told["findings"] if "'acme'" in one and "damaged" in one]
