"""Lists: what there is, by pages, for a person and for those who answer for an organization."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import pytest

import incumbent
import incumbent.testing
from incumbent import Listing, Memory, Session
from incumbent.testing import SteppingClock
from tests.behaviour.people import someone

T = TypeVar("T")


def whole(call: Callable[..., Listing[T]], size: int = 2, **asked: Any) -> list[T]:
    """All lines of a list, read by pages of a size."""
    found: list[T] = []
    cursor = None
    while True:
        page = call(limit=size, cursor=cursor, **asked)
        assert len(page) <= size
        assert page or page.next is None, "an empty page is the last"
        found += page
        if page.next is None:
            return found
        assert len(page) == size, "only the last page may be short"
        cursor = page.next


def of(memory: Memory, name: str) -> Callable[..., Listing[Any]]:
    """A list of the whole organization that these tests live in."""
    call = getattr(memory, name)
    return lambda **asked: call("acme", **asked)


def named(lines: list[Any], name: str) -> list[tuple[str, str, int]]:
    """Owners, names and numbers of facts."""
    return [(line.owner, getattr(line, name), line.facts) for line in lines]


@pytest.fixture
def staffed(memory: Memory) -> Memory:
    """A memory in which several people have said several things."""
    alice = someone(memory, "alice", "manager", session_id="s-alice")
    bob = someone(memory, "bob", session_id="s-bob", permissions=["hr"])
    alice.write("size", 5, subject="ball")
    alice.write("color", "red", subject="ball")
    alice.write("color", "blue", subject="ball")
    alice.write("color", "green", subject="cap")
    alice.write("city", "Bern")
    alice.write("holiday", "1 August", memory_type="organizational", subject="calendar")
    bob.write("city", "Basel")
    bob.write("salary", 100, subject="carol", requires=["hr"])
    alice.observe("My desk is 4.")
    alice.observe("My desk is 5.")
    bob.observe("My lamp is blue.")
    return memory


@pytest.mark.on_every_store
class TestForAPerson:
    """What a session lists: what the person may see, as if there were nothing else."""

    def test_subjects_are_those_of_facts_in_office(self, staffed: Memory) -> None:
        """The organization's first, then one's own, with how many facts hold office and keys."""
        found = whole(someone(staffed, "alice").list_subjects, 1)
        assert named(found, "subject") == [
            ("", "calendar", 1),
            ("alice", "ball", 2),
            ("alice", "cap", 1),
        ]
        assert [line.keys for line in found] == [1, 2, 1]

    def test_keys_are_those_of_facts_in_office(self, staffed: Memory) -> None:
        """Those without a subject too."""
        found = whole(someone(staffed, "alice").list_keys, 2)
        assert named(found, "key") == [
            ("", "holiday", 1),
            ("alice", "city", 1),
            ("alice", "color", 2),
            ("alice", "desk", 1),
            ("alice", "size", 1),
        ]
        assert [line.subjects for line in found] == [1, 1, 2, 1, 1]

    def test_sessions_and_receipts_are_ones_own(self, staffed: Memory) -> None:
        """Nobody lists those of others."""
        bob = someone(staffed, "bob")
        someone(staffed, "alice").context("city?", record=True)
        kept = bob.context("Which city?", record=True)
        (session,) = bob.list_sessions()
        assert (session.session_id, session.user_id, session.turns) == ("s-bob", "bob", 1)
        (receipt,) = bob.list_receipts()
        assert (receipt.id, receipt.user_id, receipt.query) == (
            kept.receipt.id,
            "bob",
            "Which city?",
        )
        assert (receipt.tokens, receipt.budget) == (kept.tokens, 4000)
        assert receipt.facts == len(kept.receipt.fact_ids)

    def test_what_one_may_not_see_is_not_hinted_at(self, staffed: Memory) -> None:
        """Without the permission there is no line, no count and no further page."""
        seen = someone(staffed, "bob", permissions=["hr"])
        blind = someone(staffed, "bob")
        assert [line.subject for line in seen.list_subjects()] == ["calendar", "carol"]
        assert [line.key for line in seen.list_keys()] == ["holiday", "", "city", "salary"]
        page = blind.list_subjects(limit=1)
        assert [line.subject for line in page] == ["calendar"]
        assert page.next is None
        keys = blind.list_keys(limit=3)
        assert [line.key for line in keys] == ["holiday", "", "city"]
        assert keys.next is None
        assert blind.list_keys(prefix="sal") == Listing(())

    def test_what_is_hidden_takes_no_room_on_a_page(self, memory: Memory) -> None:
        """A page is full of what may be seen, whatever lies in between."""
        ann = someone(memory, "ann", permissions=["hr"])
        for number in range(30):
            ann.write(f"k{number:02}", number, requires=["hr"] if number % 10 else [])
        found = whole(someone(memory, "ann").list_keys, 2)
        assert [line.key for line in found] == ["k00", "k10", "k20"]

    def test_a_declaration_hides_a_key(self, staffed: Memory) -> None:
        """Also from what was written before, and from the counts of its subject."""
        staffed.declare("col*", requires=["design"])
        alice = someone(staffed, "alice")
        assert "color" not in [line.key for line in alice.list_keys()]
        assert named(list(alice.list_subjects()), "subject") == [
            ("", "calendar", 1),
            ("alice", "ball", 1),
        ]

    def test_the_organizations_facts_are_listed_for_its_readers(self, memory: Memory) -> None:
        """A fact for managers is no line for an employee."""
        boss = someone(memory, "boss", "manager")
        boss.write(
            "bonus", 9, memory_type="organizational", subject="staff", min_authority="manager"
        )
        assert [line.subject for line in someone(memory, "eve", "manager").list_subjects()] == [
            "staff"
        ]
        assert someone(memory, "eve").list_subjects() == Listing(())

    def test_scopes_that_do_not_apply_are_left_out(self, memory: Memory) -> None:
        """A task's facts are listed in the task, a draft's in the draft."""
        ann = someone(memory, "ann")
        inside = someone(memory, "ann", task_id="t1")
        inside.write("format", "pdf", scope="task", subject="report")
        draft = ann.draft("d")
        draft.write("tone", "warm", subject="letter")
        assert ann.list_subjects() == Listing(())
        assert [line.subject for line in inside.list_subjects()] == ["report"]
        assert [line.subject for line in draft.list_subjects()] == ["letter"]

    def test_terms_count(self, memory: Memory, clock: SteppingClock) -> None:
        """What has not begun, or is over, holds no office."""
        ann = someone(memory, "ann")
        now = memory.now()
        ann.write("pass", 1, subject="past", valid_until=now + timedelta(hours=1))
        ann.write("pass", 2, subject="soon", valid_from=now + timedelta(hours=2))
        assert [line.subject for line in ann.list_subjects()] == ["past"]
        clock.advance(hours=3)
        assert [line.subject for line in ann.list_subjects()] == ["soon"]
        assert [line.subject for line in memory.list_subjects("acme")] == ["soon"]

    def test_the_past_is_listed_as_it_was(self, memory: Memory) -> None:
        """A look at the past lists what held office then."""
        ann = someone(memory, "ann")
        ann.write("size", 1, subject="ball")
        ann.write("size", 1, subject="cap")
        before = memory.now()
        ann.retract(ann.facts("size", subject="ball")[0].id)
        ann.write("size", 2, subject="coat")
        assert [line.subject for line in ann.list_subjects()] == ["cap", "coat"]
        then = ann.as_of(before)
        assert [line.subject for line in whole(then.list_subjects, 1)] == ["ball", "cap"]
        assert [line.subject for line in then.list_subjects(prefix="b")] == ["ball"]

    def test_receipts_that_show_more_are_left_out(self, memory: Memory) -> None:
        """The same person without a permission is not listed what they were shown with it."""
        full = someone(memory, "ann", permissions=["hr"])
        full.write("salary", 100, requires=["hr"])
        full.context("What is the salary?", record=True)
        bare = someone(memory, "ann")
        for number in range(3):
            bare.context(f"Question {number}?", record=True)
        full.context("And the salary now?", record=True)
        assert len(whole(full.list_receipts, 2)) == 5
        assert [line.query for line in whole(bare.list_receipts, 2)] == [
            "Question 2?",
            "Question 1?",
            "Question 0?",
        ]
        page = bare.list_receipts(limit=3)
        assert page.next is None

    def test_what_was_forgotten_is_gone(self, staffed: Memory) -> None:
        """A person who was forgotten has no line anywhere."""
        someone(staffed, "alice").context("city?", record=True)
        staffed.forget(organization="acme", user_id="alice")
        assert [line.user_id for line in staffed.list_users("acme")] == ["bob"]
        assert [line.user_id for line in staffed.list_sessions("acme")] == ["bob"]
        assert staffed.list_receipts("acme") == Listing(())
        assert {line.owner for line in staffed.list_keys("acme")} <= {"", "bob"}


@pytest.mark.on_every_store
class TestForAnOrganization:
    """What a memory lists: everything, for those who answer for it."""

    def test_users_are_listed_with_what_they_have(self, staffed: Memory) -> None:
        """Facts in office, sessions, and when they last brought a decision about."""
        someone(staffed, "zoe").context("city?", record=True)
        found = whole(of(staffed, "list_users"), 1)
        assert [(line.user_id, line.facts, line.sessions) for line in found] == [
            ("alice", 5, 1),
            ("bob", 3, 1),
            ("zoe", 0, 0),
        ]
        last = staffed.list_audit("acme", limit=1)[0]
        assert found[1].last_at == last.recorded_at
        assert found[2].last_at is None
        assert [line.user_id for line in staffed.list_users("acme", prefix="b")] == ["bob"]

    def test_sessions_are_everybodys(self, staffed: Memory) -> None:
        """The last begun first; of one user, and of a stretch of time, if asked."""
        found = whole(of(staffed, "list_sessions"), 1)
        assert [(line.session_id, line.turns) for line in found] == [("s-bob", 1), ("s-alice", 2)]
        assert found[1].started_at < found[1].last_at < found[0].started_at
        one = staffed.list_sessions("acme", user_id="alice")
        assert list(one) == found[1:]
        since = staffed.list_sessions("acme", since=found[0].started_at)
        assert list(since) == found[:1]
        until = staffed.list_sessions("acme", until=found[0].started_at)
        assert list(until) == found[1:]

    def test_names_are_everybodys(self, staffed: Memory) -> None:
        """Whoever may see them, by owner; of one owner, or the organization's, if asked."""
        found = named(whole(of(staffed, "list_subjects"), 2), "subject")
        assert found == [
            ("", "calendar", 1),
            ("alice", "ball", 2),
            ("alice", "cap", 1),
            ("bob", "carol", 1),
        ]
        for owner in ("", "alice", "bob"):
            one = whole(of(staffed, "list_subjects"), 1, owner=owner)
            assert named(one, "subject") == [line for line in found if line[0] == owner]
        keys = staffed.list_keys("acme", prefix="c")
        assert named(list(keys), "key") == [
            ("alice", "city", 1),
            ("alice", "color", 2),
            ("bob", "city", 1),
        ]

    def test_receipts_are_everybodys(self, staffed: Memory) -> None:
        """The last kept first; of one user, and of a stretch of time, if asked."""
        for name in ("alice", "bob", "alice"):
            someone(staffed, name).context(f"What of {name}?", record=True)
        found = whole(of(staffed, "list_receipts"), 2)
        assert [line.user_id for line in found] == ["alice", "bob", "alice"]
        assert found[0].kept_at > found[1].kept_at > found[2].kept_at
        bobs = staffed.list_receipts("acme", user_id="bob")
        assert list(bobs) == [found[1]]
        span = staffed.list_receipts("acme", since=found[1].kept_at, until=found[0].kept_at)
        assert list(span) == [found[1]]

    def test_the_log_is_read_backwards_by_pages(self, staffed: Memory) -> None:
        """The entries that `audit` gives, the last first, with values only if asked."""
        forward = list(staffed.audit("acme"))
        assert whole(of(staffed, "list_audit"), 3) == forward[::-1]
        told = whole(of(staffed, "list_audit"), 3, values=True)
        assert told == list(staffed.audit("acme", values=True))[::-1]

    def test_a_page_goes_on_while_others_write(self, staffed: Memory) -> None:
        """What is added on top neither repeats nor hides a line of the pages below."""
        first = staffed.list_audit("acme", limit=2)
        sessions = staffed.list_sessions("acme", limit=1)
        someone(staffed, "dan", session_id="new").observe("My cup is red.")
        rest = staffed.list_audit("acme", limit=2, cursor=first.next)
        assert rest[0].seq == first[-1].seq - 1
        later = staffed.list_sessions("acme", limit=1, cursor=sessions.next)
        assert [line.session_id for line in later] == ["s-alice"]

    def test_nothing_crosses_an_organization(self, staffed: Memory) -> None:
        """Another organization has none of it."""
        names = ("users", "sessions", "subjects", "keys", "receipts", "audit")
        for name in names:
            assert getattr(staffed, f"list_{name}")("globex") == Listing(())
        eve = staffed.session(user_id="alice", organization="globex")
        for name in ("sessions", "subjects", "keys", "receipts"):
            assert getattr(eve, f"list_{name}")() == Listing(())


class TestWrongCalls:
    """What makes no sense is refused, and says what would."""

    @pytest.mark.parametrize("limit", [0, -1, 1001, "5", 2.0, True, None])
    @pytest.mark.parametrize("name", ["sessions", "subjects", "keys", "receipts"])
    def test_a_limit_is_a_number_of_lines(self, alice: Session, name: str, limit: Any) -> None:
        """From 1 to 1,000."""
        with pytest.raises(incumbent.InvalidInput, match="limit must be from 1 to 1,000"):
            getattr(alice, f"list_{name}")(limit=limit)

    @pytest.mark.parametrize(
        "cursor",
        ["", "abc", "ä", "WyJrZXkiXQ", "bm90anNvbg", "W10", "eyJhIjoxfQ", "WyJrZXkiLDEsMl0", 5],
    )
    @pytest.mark.parametrize("name", ["sessions", "subjects", "keys", "receipts"])
    def test_a_cursor_is_one_that_was_given(self, alice: Session, name: str, cursor: Any) -> None:
        """Anything else is refused, and says how to begin anew."""
        with pytest.raises(incumbent.InvalidInput, match="leave it out to begin"):
            getattr(alice, f"list_{name}")(cursor=cursor)

    def test_a_cursor_is_for_its_own_list(self, staffed: Memory) -> None:
        """That of subjects is none of keys."""
        alice = someone(staffed, "alice")
        cursor = alice.list_subjects(limit=1).next
        assert cursor is not None
        with pytest.raises(incumbent.InvalidInput, match="none that this list gave"):
            alice.list_keys(cursor=cursor)

    def test_anothers_cursor_opens_nothing(self, staffed: Memory) -> None:
        """A cursor is a place in a list and no right to see it."""
        cursor = staffed.list_keys("acme", limit=2).next
        bob = someone(staffed, "bob")
        found = bob.list_keys(cursor=cursor)
        assert {line.owner for line in found} == {"bob"}

    @pytest.mark.parametrize(
        ("name", "asked", "told"),
        [
            ("subjects", {"prefix": 5}, "prefix must be a string"),
            ("subjects", {"prefix": "a\0"}, "NUL"),
            ("keys", {"owner": 5}, "owner must be a string"),
            ("sessions", {"user_id": ""}, "user_id is empty"),
            ("sessions", {"since": "yesterday"}, "since"),
            (
                "receipts",
                {"until": incumbent.testing.SteppingClock()().replace(tzinfo=None)},
                "until",
            ),
            ("users", {"prefix": "\ud800"}, "lone surrogate"),
        ],
    )
    def test_conditions_make_sense(
        self, memory: Memory, name: str, asked: dict[str, Any], told: str
    ) -> None:
        """A wrong one is named."""
        with pytest.raises(incumbent.InvalidInput, match=told):
            getattr(memory, f"list_{name}")("acme", **asked)

    def test_a_closed_session_lists_nothing(self, memory: Memory) -> None:
        """It says that it is closed."""
        ann = someone(memory, "ann")
        ann.close()
        with pytest.raises(incumbent.SessionClosed):
            ann.list_keys()


@pytest.mark.on_every_store
@pytest.mark.parametrize("seed", range(4))
def test_lists_say_what_the_facts_say(memory: Memory, seed: int) -> None:
    """Whatever was written, retracted and hidden: the lines are those of the facts in office that
    a person sees, stepped aside or not, by any size of page."""
    chance = random.Random(seed)
    people = {
        (name, permission): someone(
            memory, name, "manager", permissions=[permission] if permission else []
        )
        for name in ("ann", "bob")
        for permission in ("", "x")
    }
    for _ in range(80):
        (_, permission), who = chance.choice(list(people.items()))
        key, subject = f"k{chance.randrange(6)}", chance.choice([None, "a", "ab", "b", "é"])
        requires = ["x"] if permission and chance.random() < 0.5 else []
        kind = chance.choice(["user", "organizational"])
        if chance.random() < 0.2 and (held := who.facts()):
            who.retract(chance.choice(held).id)
            continue
        value = chance.randrange(3)
        who.write(key, value, subject=subject, requires=requires, memory_type=kind)
    prefix = chance.choice(["", "a", "k", "k1"])
    for who in people.values():
        with who._reading() as (reader, lens):
            facts = lens.held(reader)
        keys = Counter((fact.owner, fact.key) for fact in facts if fact.key.startswith(prefix))
        about = Counter(
            (fact.owner, fact.subject)
            for fact in facts
            if fact.subject and fact.subject.startswith(prefix)
        )
        size = chance.randrange(1, 5)
        listed = named(whole(who.list_keys, size, prefix=prefix), "key")
        assert listed == [(*name, count) for name, count in sorted(keys.items())]
        listed = named(whole(who.list_subjects, size, prefix=prefix), "subject")
        assert listed == [(*name, count) for name, count in sorted(about.items())]
