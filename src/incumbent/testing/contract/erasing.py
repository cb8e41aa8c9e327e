"""The promises of an erasure: the content is gone, the links and the proof stay."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from incumbent.model.fact import Basis, Cause, Fact, MemoryType, Part, Said, Source, Status
from incumbent.model.records import Erasure
from incumbent.model.scope import Scope
from incumbent.stores.port import IndexEntry, Selection, Store, TenureChange
from incumbent.testing.contract.scribe import EVERYTHING, Contract, Scribe, ids

SECRET = "swordfish"


class ErasingContract(Contract):
    """Erasing a fact in the middle of a chain, with every field holding a secret."""

    scrubs = True
    """Whether the store itself overwrites erased content; a server's disk is not its to
    overwrite."""

    @pytest.fixture
    def chain(self, store: Store, acme: Scribe) -> tuple[Fact, Fact, Fact]:
        """First, secret, last: the second has a secret in every field that can hold one."""
        first = acme.establish("Bern", key="place")
        told = acme.fact(
            {"pass": [SECRET]},
            id="secret",
            key=f"{SECRET} key",
            subject=f"{SECRET} subject",
            owner=f"{SECRET} owner",
            source=Source(
                "conversation",
                f"{SECRET} name",
                ref=f"{SECRET} ref",
                quote=f"{SECRET} it is",
                parts=(Part("term", SECRET, SECRET, SECRET),),
                earlier=(Said(1, f"{SECRET} speaker", f"{SECRET} ref"),),
            ),
            memory_type=MemoryType.CAPABILITY,
            scope=Scope.TASK,
            scope_id=f"{SECRET} task",
            requires=(f"{SECRET} permission",),
            depends_on=(first.id,),
            basis=(Basis(first.id, first.id),),
            doubts=("doubted",),
            when_superseded="base",
            predecessors=(first.id,),
            is_constraint=True,
            constraint_type="budget",
            min_authority="manager",
        )
        with store.write("acme") as transaction:
            acme.put(transaction, told, by=f"{SECRET} speaker", reason=f"because {SECRET}")
            transaction.index([IndexEntry(told, SECRET, SECRET, 7, SECRET.encode())])
        marked = acme.change(
            told, reason=SECRET, causes=(Cause(first.id, None, (first.id, told.id)),)
        )
        last = acme.fact("Zug", id="last", key="place", owner="bob", predecessors=("secret",))
        ended = marked.evolve(
            status=Status.SUPERSEDED,
            superseded_by="last",
            ended_at=last.started_at + timedelta(days=1) if last.started_at else None,
        )
        with store.write("acme") as transaction:
            acme.put(transaction, last, [TenureChange(marked, ended)], superseded=("secret",))
        return first, ended, last

    def erase(self, store: Store, acme: Scribe) -> Erasure:
        """Erase the secret fact."""
        asked = Erasure(
            "erasure-1", "acme", acme.clock(), ("secret",), removed={"working_items": 7}
        )
        with store.write("acme") as transaction:
            return transaction.erase(["secret"], asked)

    def test_the_row_keeps_id_and_links_and_nothing_else(
        self, store: Store, acme: Scribe, chain: tuple[Fact, Fact, Fact]
    ) -> None:
        """An erased fact is still there by id, with its links, and says nothing."""
        self.erase(store, acme)
        with store.read("acme") as reader:
            left = reader.fact("secret")
        assert left is not None
        assert left.status is Status.ERASED
        assert left.superseded_by == "last"
        assert left.predecessors == (chain[0].id,)
        blank = Fact(
            id="secret",
            organization="acme",
            key="",
            value=None,
            timestamp=left.timestamp,
            recorded_at=left.timestamp,
            valid_from=left.timestamp,
            authority="",
            status=Status.ERASED,
            superseded_by="last",
            predecessors=(chain[0].id,),
        )
        assert left == blank
        assert left.timestamp.year == 1970

    def test_the_content_is_gone_from_every_read(
        self, store: Store, acme: Scribe, chain: tuple[Fact, Fact, Fact]
    ) -> None:
        """No reading method and no dump shows anything of an erased fact."""
        first, ended, _ = chain
        self.erase(store, acme)
        own = Selection((ended.owner,), None, ended.key, None)
        with store.read("acme") as reader:
            for selection in (EVERYTHING, own):
                assert "secret" not in ids(reader.live(selection))
                assert "secret" not in ids(reader.timeline(selection))
                for seq in range(reader.head()[0] + 1):
                    assert "secret" not in ids(reader.known(selection, seq))
            assert reader.standing_on([first.id]) == []
            assert reader.derived_from([first.id]) == []
            assert reader.contingent_on(["base"]) == []
            assert reader.doubting(["doubted"]) == reader.doubters((ended.owner, "")) == []
            assert reader.contested((ended.owner, "")) == []
            assert reader.derived((ended.owner, "")) == []
            assert SECRET not in repr(reader.verdicts(["secret"]))
            assert SECRET not in repr(reader.log(0, 100))
        place = (Scope.TASK, f"{SECRET} task")
        assert (
            store.glance("acme", (ended.owner,), (place,), ended.key, ended.subject or "") is None
        )
        assert SECRET not in json.dumps(list(store.dump("acme")))
        assert SECRET not in repr(store.erasures("acme"))

    def test_the_content_is_gone_from_the_index(
        self, store: Store, acme: Scribe, chain: tuple[Fact, Fact, Fact]
    ) -> None:
        """Nothing in the index tells what an erased fact said, whose it was, or for whom."""
        owners, places = (chain[1].owner,), (chain[1].place,)
        with store.read("acme") as reader:
            (shelf,) = reader.shelves(owners, places)
        self.erase(store, acme)
        with store.read("acme") as reader:
            assert reader.shelves(owners, places) == []
            assert reader.postings([shelf.id], SECRET, 9) == []
            assert SECRET not in repr(list(reader.placed(shelf.id, 0)))
            assert SECRET not in repr(reader.entries_of(["secret"]))

    def test_the_rest_of_the_chain_stays(
        self, store: Store, acme: Scribe, chain: tuple[Fact, Fact, Fact]
    ) -> None:
        """The neighbours are untouched, and the log keeps its entries and their numbers."""
        first, _, last = chain
        self.erase(store, acme)
        with store.read("acme") as reader:
            assert reader.fact(first.id) == first
            assert reader.fact(last.id) == last
            assert reader.timeline(EVERYTHING) == [first, last]
            assert [v.seq for v in reader.log(0, 100)] == [1, 2, 3, 4]
            assert [v.seq for v in reader.verdicts(["secret"])] == [2, 3]

    def test_the_proof_counts_what_went(
        self, store: Store, acme: Scribe, chain: tuple[Fact, Fact, Fact]
    ) -> None:
        """The proof is returned and kept, with facts, earlier tenures and reasons counted."""
        proof = self.erase(store, acme)
        assert dict(proof.removed) == {
            "working_items": 7,
            "facts": 1,
            "tenures": 2,
            "reasons": 2,
        }
        assert (proof.id, proof.fact_ids) == ("erasure-1", ("secret",))
        assert store.erasures("acme") == [proof]
        assert store.erasures("acme")[0].digest == proof.digest

    def test_proofs_come_oldest_first(self, store: Store, acme: Scribe) -> None:
        """Proofs are listed in the order of the erasures."""
        assert store.erasures("acme") == []
        for name in ("e1", "e2", "e3"):
            acme.establish(id=name, key=name)
            with store.write("acme") as transaction:
                transaction.erase([name], Erasure(name, "acme", acme.clock(), (name,)))
        assert [proof.id for proof in store.erasures("acme")] == ["e1", "e2", "e3"]
        with store.read("acme") as reader:
            assert reader.erasures() == store.erasures("acme")
            assert [proof.id for proof in reader.erasures("e1")] == ["e2", "e3"]
            assert reader.erasures("e3") == []

    def test_a_transaction_knows_its_own_proofs(self, store: Store, acme: Scribe) -> None:
        """A proof can be read within the transaction that made it, and in no other organization."""
        acme.establish(SECRET, id="secret")
        with store.write("acme") as transaction:
            proof = transaction.erase(["secret"], Erasure("e1", "acme", acme.clock(), ("secret",)))
            assert transaction.erasures() == [proof]
        with store.read("globex") as reader:
            assert reader.erasures() == []

    def test_the_address_is_free_again(self, store: Store, acme: Scribe) -> None:
        """After the incumbent was erased, another fact may take office there."""
        acme.establish(SECRET, id="secret")
        self.erase(store, acme)
        fact = acme.establish("Basel", id="next")
        with store.read("acme") as reader:
            assert reader.live(EVERYTHING) == [fact]

    def test_scrubbing_leaves_the_rest(
        self, store: Store, acme: Scribe, chain: tuple[Fact, Fact, Fact]
    ) -> None:
        """Overwriting the remains of erased content succeeds on a quiet store, changing nothing.

        A store on a server leaves that to its operator, says so, and changes nothing either.
        """
        self.erase(store, acme)
        before = list(store.dump("acme"))
        assert store.scrub() is self.scrubs
        assert list(store.dump("acme")) == before
        assert store.check() == []
