"""The systems beside us: each does what it says it can, and says what it cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from incumbent_eval import adapters
from incumbent_eval.adapters.base import BEGINNING
from incumbent_eval.adapters.plain import LAST
from incumbent_eval.bm25 import Bm25
from incumbent_eval.systems import Ability, CannotDo, Entry, Maker, System, Who

NAMES = list(adapters.PEERS)
ADA, BOB, EVE = Who("ada"), Who("bob"), Who("eve", organization="other")
ASKED = "Which harbour, and which secret?"
PLAIN = ("transcript", "last-turns", "bm25")


@pytest.fixture
def made() -> Iterator[Callable[[str], System]]:
    """Makes a system by name, or skips where its package is not installed; closes it afterwards."""
    opened: list[System] = []

    def make(name: str) -> System:
        why = adapters.missing(name)
        if why is not None:
            pytest.skip(why)
        opened.append(adapters.makers()[name]())
        return opened[-1]

    yield make
    for system in opened:
        system.close()


Made = Callable[[str], System]


def needs(system: System, *abilities: Ability) -> None:
    if not system.can.issuperset(abilities):
        pytest.skip(f"{system.name} cannot")


@pytest.mark.parametrize("name", NAMES)
class TestEverySystem:
    def test_speaks_the_protocol_under_its_name(self, made: Made, name: str) -> None:
        """Whoever runs an evaluation finds what it was called by."""
        system = made(name)
        assert isinstance(system, System)
        assert system.name == name
        assert system.can <= frozenset(Ability)

    def test_shows_what_was_said_within_the_budget(self, made: Made, name: str) -> None:
        """A turn that answers the question is in the context, unless nothing is remembered."""
        system = made(name)
        needs(system, Ability.OBSERVE)
        system.observe(ADA, "Our harbour is Skagen.")
        context = system.context(ADA, ASKED, 2000)
        assert ("Skagen" in context) == (name != "no_memory")
        assert system.tokens(context) <= 2000

    def test_shows_what_was_written(self, made: Made, name: str) -> None:
        """A value is in the context, unless nothing is remembered."""
        system = made(name)
        needs(system, Ability.WRITE)
        system.write(ADA, Entry("harbour", "Skagen"))
        assert ("Skagen" in system.context(ADA, ASKED, 2000)) == (name != "no_memory")

    def test_drops_what_was_superseded_by_name(self, made: Made, name: str) -> None:
        """Those that can supersede have the new value as a fact, also under another key."""
        system = made(name)
        needs(system, Ability.SUPERSEDE)
        first = system.write(ADA, Entry("harbour", "Skagen"))
        system.move_to(BEGINNING + timedelta(days=1))
        system.write(ADA, Entry("new harbour", "Esbjerg", supersedes=first))
        assert "Esbjerg" in system.context(ADA, ASKED, 2000)

    def test_drops_what_was_retracted(self, made: Made, name: str) -> None:
        """Those that can retract no longer say the value."""
        system = made(name)
        needs(system, Ability.RETRACT)
        written = system.write(ADA, Entry("harbour", "Skagen"))
        system.retract(ADA, written)
        assert "Skagen" not in system.context(ADA, ASKED, 2000)

    def test_keeps_organizations_and_persons_apart(self, made: Made, name: str) -> None:
        """What is shared stays in the organization, what is private with the person."""
        system = made(name)
        needs(system, Ability.PERSON, Ability.ORGANIZATION)
        system.write(ADA, Entry("harbour", "Skagen"))
        system.write(ADA, Entry("secret", "lantern", is_private=True))
        system.observe(ADA, "The secret harbour has a periwinkle.")
        seen = {who: system.context(who, ASKED, 2000) for who in (ADA, BOB, EVE)}
        assert all(word in seen[ADA] for word in ("Skagen", "lantern", "periwinkle"))
        assert "Skagen" in seen[BOB]
        assert not any(word in seen[BOB] for word in ("lantern", "periwinkle"))
        assert not any(word in seen[EVE] for word in ("Skagen", "lantern", "periwinkle"))

    def test_says_what_it_cannot_do(self, made: Made, name: str) -> None:
        """Everything that is not among its abilities is refused by name, never taken silently."""
        system = made(name)
        later = BEGINNING + timedelta(days=1)
        entries = {
            Ability.WRITE: Entry("harbour", "Skagen"),
            Ability.SUPERSEDE: Entry("harbour", "Skagen", supersedes="F-0001"),
            Ability.DEPEND: Entry("harbour", "Skagen", depends_on=("F-0001",)),
            Ability.DRAFT: Entry("harbour", "Skagen", scope="draft"),
            Ability.SESSION: Entry("harbour", "Skagen", scope="session"),
            Ability.AUTHORITY: Entry("harbour", "Skagen", authority="manager"),
            Ability.VALIDITY: Entry("harbour", "Skagen", valid_until=later),
            Ability.LATE: Entry("harbour", "Skagen", said_at=BEGINNING - timedelta(days=1)),
        }
        for ability, entry in entries.items():
            if ability not in system.can:
                with pytest.raises(CannotDo) as refused:
                    system.write(ADA, entry)
                assert refused.value.ability in {ability, Ability.WRITE}
        if Ability.PERSON not in system.can and Ability.WRITE in system.can:
            system.write(ADA, Entry("secret", "lantern", is_private=True))
            with pytest.raises(CannotDo, match="person"):
                system.context(BOB, ASKED, 2000)
        if Ability.RETRACT not in system.can:
            with pytest.raises(CannotDo, match="retract"):
                system.retract(ADA, "F-0001")
        if Ability.UNDO not in system.can:
            with pytest.raises(CannotDo, match="undo"):
                system.undo(ADA, "F-0001")
        if Ability.AS_OF not in system.can:
            with pytest.raises(CannotDo, match="as of"):
                system.context(ADA, ASKED, 2000, as_of=BEGINNING)
        assert "Skagen" not in system.context(ADA, ASKED, 2000)


class TestPlainSystems:
    def test_a_transcript_drops_the_oldest_for_the_budget(self, made: Made) -> None:
        """What is kept is in order."""
        system = made("transcript")
        for number in range(20):
            system.observe(ADA, f"Crate number {number}.")
        room = system.tokens("user: Crate number 18.\nuser: Crate number 19.\n")
        told = system.context(ADA, ASKED, room)
        assert told == "user: Crate number 18.\nuser: Crate number 19."

    def test_the_last_turns_are_a_fixed_number(self, made: Made) -> None:
        """However much room there is."""
        system = made("last-turns")
        for number in range(20):
            system.observe(ADA, f"Crate {number}.")
        assert len(system.context(ADA, ASKED, 2000).splitlines()) == LAST

    def test_bm25_puts_the_likest_first_and_leaves_out_the_unlike(self, made: Made) -> None:
        """A rare word weighs more than a common one."""
        system = made("bm25")
        for text in ("the sea", "the harbour of Skagen", "the harbour", "nothing of it"):
            system.observe(ADA, text)
        told = system.context(ADA, "the Skagen harbour", 2000).splitlines()
        assert told == ["user: the harbour of Skagen", "user: the harbour", "user: the sea"]

    @pytest.mark.parametrize("name", PLAIN)
    def test_an_empty_one_gives_an_empty_context(self, made: Made, name: str) -> None:
        assert made(name).context(ADA, ASKED, 100) == ""


def test_bm25_scores_as_the_formula_says() -> None:
    """Two texts of one word each: log(1 + 1.5 / 1.5) for the one that has the word."""
    assert Bm25(["sea", "sky"]).scores("sea") == pytest.approx([0.6931, 0], abs=1e-4)
    assert Bm25([]).ranked("sea") == []


class TestWhatIsNotInstalled:
    def test_is_named_with_the_command(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A peer whose package is absent says so when it is made, and what to run."""
        gone = adapters.Peer("somebody", ("no-such-package",))
        monkeypatch.setitem(adapters.PEERS, "mem0", gone)
        make: Maker = adapters.makers()["mem0"]
        with pytest.raises(
            adapters.PeerMissing, match=r"mem0 is not installed.*incumbent\[peers\]"
        ):
            make()
        assert "mem0" not in adapters.available()
        assert adapters.available(["mem0", "bm25"]) == ["bm25"]
        assert adapters.available([]) == []

    def test_ours_and_the_plain_ones_need_nothing(self) -> None:
        assert {"incumbent", *PLAIN} <= set(adapters.available())
