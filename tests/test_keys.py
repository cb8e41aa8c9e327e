"""The text of a key and what is kept of it."""

from __future__ import annotations

import hashlib
from dataclasses import FrozenInstanceError, replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from incumbent.keys import make_key, matches, parse
from incumbent.model.errors import InvalidInput
from incumbent.model.keys import ApiKey, KeyScope
from incumbent.testing import SteppingClock

NOW = SteppingClock()()


def made(**given: Any) -> tuple[ApiKey, str]:
    """A key and its text."""
    fields: dict[str, Any] = {
        "organization": "acme",
        "name": "reports",
        "scopes": ["read"],
        "max_authority": "employee",
        "now": NOW,
    }
    return make_key(**{**fields, **given})


class TestMaking:
    def test_keeps_what_it_was_told(self) -> None:
        """Scopes come in their order, each once; permissions sorted; moments in UTC."""
        later = datetime(2026, 5, 1, 12, tzinfo=timezone(timedelta(hours=2)))
        key, _ = made(
            scopes=["write", "read", "write"],
            permissions=["hr", "finance", "hr"],
            user_id="alice",
            expires_at=later,
        )
        assert key.scopes == (KeyScope.READ, KeyScope.WRITE)
        assert key.permissions == ("finance", "hr")
        assert (key.user_id, key.created_at, key.revoked_at) == ("alice", NOW, None)
        assert key.expires_at is not None
        assert key.expires_at.isoformat() == "2026-05-01T10:00:00+00:00"

    def test_keeps_nothing_of_the_text_but_a_digest(self) -> None:
        """The secret is in no field, and the digest is in no message."""
        key, text = made()
        parsed = parse(text)
        assert parsed is not None
        assert parsed.id == key.id
        assert parsed.secret not in repr(key)
        assert key.digest not in repr(key)
        assert key.digest == hashlib.sha256(text.encode()).hexdigest()
        assert parsed.secret not in repr(parsed)

    def test_makes_another_each_time(self) -> None:
        """A thousand keys of one moment share neither id nor secret."""
        parts = [parse(made()[1]) for _ in range(1000)]
        assert len({part.id for part in parts if part}) == 1000
        assert len({part.secret for part in parts if part}) == 1000

    def test_ids_ascend_with_time(self) -> None:
        """A key made later comes later in a list."""
        ids = [made(now=NOW + timedelta(milliseconds=step))[0].id for step in range(50)]
        assert ids == sorted(ids)

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            ({"scopes": []}, "a scope; choose from read, write, review, erase, admin, metrics"),
            ({"scopes": ["fly"]}, "'fly' is not a scope; choose from read"),
            ({"scopes": "read"}, r"scopes must be a list; write \['read'\]"),
            ({"scopes": [["read"]]}, "is not a scope"),
            ({"scopes": None}, "scopes must be a list, not NoneType"),
            ({"name": ""}, "the name of a key is empty"),
            ({"name": "a\x00b"}, "NUL"),
            ({"organization": " "}, "organization is empty"),
            ({"organization": 7}, "organization must be a string"),
            ({"max_authority": ""}, "max_authority is empty"),
            ({"user_id": ""}, "user_id is empty"),
            ({"permissions": "hr"}, r"permissions must be a list; write \['hr'\]"),
            ({"expires_at": NOW}, "run out before it is made"),
            ({"expires_at": NOW - timedelta(1)}, "run out before it is made"),
            ({"expires_at": NOW.replace(tzinfo=None)}, "naive datetime"),
            ({"expires_at": "2030-01-01"}, "expires_at must be a datetime"),
        ],
    )
    def test_refuses_what_makes_no_key(self, given: dict[str, Any], told: str) -> None:
        """The message quotes what is wrong and names the fix."""
        with pytest.raises(InvalidInput, match=told):
            made(**given)

    @pytest.mark.parametrize("field", ["id", "digest"])
    def test_refuses_an_id_or_digest_of_another_shape(self, field: str) -> None:
        """Neither can be made up from something else by a slip."""
        key, text = made()
        wrongs: list[Any] = ["", text, key.id[:-1], key.id.upper() + "A", 7, None]
        for wrong in wrongs:
            with pytest.raises(InvalidInput, match="hexadecimal digits"):
                replace(key, **{field: wrong})

    def test_a_key_is_frozen(self) -> None:
        """Nobody raises an authority in passing."""
        key, _ = made()
        with pytest.raises(FrozenInstanceError):
            key.max_authority = "policy"  # type: ignore[misc]


class TestMatching:
    def test_only_the_text_of_a_key_matches_it(self) -> None:
        """Not that of another, nor one that differs in any one character."""
        key, text = made()
        assert matches(key, text)
        assert not matches(key, made()[1])
        for place in range(len(text)):
            other = "A" if text[place] != "A" else "B"
            assert not matches(key, text[:place] + other + text[place + 1 :])

    @pytest.mark.parametrize(
        "change",
        [
            lambda text: "",
            lambda text: text[:-1],
            lambda text: text + "A",
            lambda text: text + "\n",
            lambda text: f" {text}",
            lambda text: text.upper(),
            lambda text: text.replace("incumbent_", ""),
            lambda text: text.rpartition("_")[2],
            lambda text: text[:-1] + "\u0661",  # a digit, in another script
            lambda text: text.encode(),
            lambda text: None,
            lambda text: [text],
        ],
    )
    def test_what_is_no_key_is_told_apart(self, change: Any) -> None:
        """Anything can be asked about, and nothing but a key is taken for one."""
        key, text = made()
        assert parse(change(text)) is None
        assert not matches(key, change(text))

    def test_the_digest_itself_opens_nothing(self) -> None:
        """Who has read the table of keys has no key."""
        key, _ = made()
        for guess in (key.digest, f"incumbent_{key.id}_{key.digest}", f"incumbent_{key.id}_"):
            assert not matches(key, guess)


class TestUsing:
    def test_a_key_is_for_its_scopes_and_no_other(self) -> None:
        """Not even admin includes another."""
        key, _ = made(scopes=["admin"])
        assert [scope.value for scope in KeyScope if key.may(scope)] == ["admin"]
        assert not key.may("read")
        assert not key.may("")

    def test_a_key_is_usable_until_it_runs_out(self) -> None:
        """At the very moment it is not any more."""
        ends = NOW + timedelta(hours=1)
        key, _ = made(expires_at=ends)
        assert key.usable(NOW)
        assert key.usable(ends - timedelta(microseconds=1))
        assert not key.usable(ends)

    def test_a_revoked_key_is_not_usable_whatever_the_clock_says(self) -> None:
        """Nobody gets in by way of a clock that is behind."""
        key = replace(made()[0], revoked_at=NOW + timedelta(hours=1))
        assert not key.usable(NOW)
        assert not key.usable(NOW + timedelta(days=1))
