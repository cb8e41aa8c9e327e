"""mem0's `Memory` on Incumbent: what its users pass, what they get, and what is refused."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent.compat.mem0 import AsyncMemory, Memory, NotCarriedOver
from incumbent.model.errors import InvalidInput
from incumbent.testing import SteppingClock
from tests.conftest import QUICK, OpenMemory
from tests.service.running import Running, a_key

ALICE = {"user_id": "alice"}
ORDER = "We need 40 desks by Friday. The shipping address is 123 Main St."
CORRECTION = "No, 45 desks. And the shipping address is 456 Oak Ave now."


@pytest.fixture
def mem(memory: incumbent.Memory) -> Memory:
    return Memory(memory)


def texts(found: dict[str, Any]) -> list[str]:
    return [one["memory"] for one in found["results"]]


def corrected(mem: Memory) -> str:
    """The id of a memory that was added and then corrected."""
    mem.add(ORDER, user_id="alice")
    made = mem.add([{"role": "user", "content": CORRECTION}], user_id="alice")["results"]
    return next(str(one["id"]) for one in made if "456 Oak Ave" in one["memory"])


@pytest.mark.on_every_store
def test_a_superseded_value_is_in_the_history_alone(mem: Memory) -> None:
    """Search and listing have the new value; the old one is what the history tells."""
    memory_id = corrected(mem)
    shown = [mem.search("Where do we ship?", filters=ALICE), mem.get_all(filters=ALICE)]
    for found in shown:
        assert "shipping address: 456 Oak Ave" in texts(found)
        assert "123 Main St" not in str(found)
        assert "40 desks" not in str(found)
    rows = mem.history(memory_id)
    assert [(row["event"], row["new_memory"]) for row in rows] == [
        ("ADD", "shipping address: 123 Main St"),
        ("UPDATE", "shipping address: 456 Oak Ave"),
    ]
    assert rows[1]["old_memory"] == "shipping address: 123 Main St"


class TestAdding:
    """`add` takes what mem0's users pass, and tells what became of it."""

    def test_a_correction_is_an_update_of_the_same_memory(self, mem: Memory) -> None:
        """The id of a memory stays when its text changes, and the old text is told."""
        first = mem.add(ORDER, user_id="alice")["results"]
        second = mem.add(CORRECTION, user_id="alice")["results"]
        assert {one["event"] for one in first} == {"ADD"}
        assert {one["event"] for one in second} == {"UPDATE"}
        assert {one["id"] for one in first} == {one["id"] for one in second}
        assert "shipping address: 123 Main St" in [one["previous_memory"] for one in second]

    def test_what_is_said_again_changes_nothing(self, mem: Memory) -> None:
        """The same statement again is a NONE."""
        mem.add("The shipping address is 123 Main St.", user_id="alice")
        again = mem.add("The shipping address is 123 Main St.", user_id="alice")["results"]
        assert [one["event"] for one in again] == ["NONE"]

    @pytest.mark.parametrize(
        "messages",
        [
            "The shipping address is 123 Main St.",
            {"role": "user", "content": "The shipping address is 123 Main St."},
            [{"role": "user", "content": "The shipping address is 123 Main St."}],
            [{"role": "user", "content": [{"type": "text", "text": "My address is 123 Main St."}]}],
        ],
    )
    def test_messages_come_in_every_shape(self, mem: Memory, messages: Any) -> None:
        """A text, a message, a list of them, content in parts."""
        assert "123 Main St" in mem.add(messages, user_id="alice")["results"][0]["memory"]

    def test_the_applications_own_words_are_nobodys_memory(self, mem: Memory) -> None:
        """System messages are passed over, as mem0 passes over them."""
        said = [{"role": "system", "content": "The shipping address is 123 Main St."}]
        assert mem.add(said, user_id="alice") == {"results": []}

    def test_without_infer_a_message_is_kept_as_it_is(self, mem: Memory) -> None:
        """Nothing is read out of it, and one does not replace the other."""
        said = [
            {"role": "user", "content": "Order 40 desks", "name": "zoe"},
            {"role": "assistant", "content": "Order 45 desks"},
        ]
        made = mem.add(said, user_id="alice", infer=False)["results"]
        assert [(one["event"], one["role"], one["actor_id"]) for one in made] == [
            ("ADD", "user", "zoe"),
            ("ADD", "assistant", None),
        ]
        found = mem.get_all(filters=ALICE)["results"]
        assert sorted(texts({"results": found})) == ["Order 40 desks", "Order 45 desks"]
        assert {one["role"] for one in found} == {"user", "assistant"}

    def test_a_memory_can_end_on_a_day(self, mem: Memory, clock: SteppingClock) -> None:
        """After its last day it is neither found nor listed."""
        mem.add("Closed for works", user_id="alice", infer=False, expiration_date="2026-01-06")
        assert texts(mem.get_all(filters=ALICE)) == ["Closed for works"]
        clock.advance(days=3)
        mem.add("Open again", user_id="alice", infer=False, expiration_date="2099-12-31")
        found = mem.get_all(filters=ALICE)["results"]
        assert [(one["memory"], one["expiration_date"]) for one in found] == [
            ("Open again", "2099-12-31")
        ]

    def test_it_is_said_at_its_time(self, mem: Memory) -> None:
        """`timestamp`, which mem0 takes on its platform alone, is when it was said."""
        mem.add("My address is 1 Elm Row.", user_id="alice", timestamp="2025-03-04T10:00:00+00:00")
        assert mem.get_all(filters=ALICE)["results"][0]["created_at"].startswith("2025-03-04T10")

    def test_what_is_wrong_with_one_message_is_told_before_any_is_taken(self, mem: Memory) -> None:
        """A message that is none leaves everything as it was."""
        good = {"role": "user", "content": "My address is 1 Elm Row."}
        with pytest.raises(InvalidInput, match="message 1 must have a role and content"):
            mem.add([good, {"content": "who said this?"}], user_id="alice")
        assert mem.get_all(filters=ALICE) == {"results": []}


class TestScoping:
    """Users, agents and runs keep apart what mem0 keeps apart."""

    def test_people_do_not_see_each_others_memories(self, mem: Memory) -> None:
        """What is Alice's is not found for Bob."""
        corrected(mem)
        assert mem.search("Where do we ship?", filters={"user_id": "bob"}) == {"results": []}
        assert mem.get_all(filters={"user_id": "bob"}) == {"results": []}

    def test_an_agent_and_a_run_are_found_across_users(self, mem: Memory) -> None:
        """A filter on an agent alone has the memories of every user of it, and its own."""
        mem.add("My address is 1 Elm Row.", user_id="alice", agent_id="bot", run_id="r1")
        mem.add("My address is 2 Elm Row.", user_id="bob", agent_id="bot", run_id="r2")
        mem.add("My address is 3 Elm Row.", agent_id="bot")
        mem.add("My address is 4 Elm Row.", user_id="alice", agent_id="other")
        of_bot = str(texts(mem.get_all(filters={"agent_id": "bot"})))
        assert all(f"{number} Elm Row" in of_bot for number in (2, 3))
        assert "address: 2 Elm Row" in texts(mem.get_all(filters={"run_id": "r2"}))
        both = mem.get_all(filters={"user_id": "bob", "run_id": "r2"})["results"]
        assert [(one["user_id"], one["agent_id"], one["run_id"]) for one in both] == [
            ("bob", "bot", "r2")
        ]
        assert mem.get_all(filters={"user_id": "bob", "run_id": "r1"}) == {"results": []}

    def test_a_user_and_an_agent_of_one_name_are_two(self, mem: Memory) -> None:
        """The agent "alice" has nothing of the user "alice"."""
        mem.add("My address is 1 Elm Row.", user_id="alice")
        assert mem.get_all(filters={"agent_id": "alice"}) == {"results": []}
        mem.add("My address is 2 Elm Row.", user_id="agent:alice")
        assert mem.get_all(filters={"agent_id": "alice"}) == {"results": []}

    def test_ids_may_stand_by_themselves_as_before_version_2(self, mem: Memory) -> None:
        """`search(query, user_id=..., limit=...)` is what version 1 took."""
        corrected(mem)
        assert len(mem.get_all(user_id="alice", limit=1)["results"]) == 1
        assert mem.search("Where do we ship?", user_id="alice", limit=1)["results"]

    @pytest.mark.parametrize("call", ["add", "search", "get_all", "delete_all"])
    def test_a_call_for_nobody_is_refused(self, mem: Memory, call: str) -> None:
        """One of the three ids is needed, and the error says so."""
        given = ("x",) if call in ("add", "search") else ()
        with pytest.raises(ValueError, match="at least one of user_id, agent_id, run_id"):
            getattr(mem, call)(*given)

    @pytest.mark.parametrize("user_id", ["", "  ", "two words", "*"])
    def test_an_id_that_names_nobody_is_refused(self, mem: Memory, user_id: str) -> None:
        """Empty ids, spaces and wildcards are slips."""
        with pytest.raises(InvalidInput, match="user_id"):
            mem.add("My address is 1 Elm Row.", user_id=user_id)

    def test_what_a_user_may_not_see_is_not_there(self, memory: incumbent.Memory) -> None:
        """A fact that asks for a permission is neither listed nor got by its id."""
        chief = memory.session(user_id="alice", permissions=["hr"])
        secret = chief.write("salary", "90,000", requires=["hr"])
        mem = Memory(memory)
        assert mem.get_all(filters=ALICE) == {"results": []}
        assert mem.get(secret.fact_id) is None
        assert mem.history(secret.fact_id) == []


class TestMetadata:
    """Metadata comes back, and filters look at it."""

    @pytest.fixture
    def filled(self, mem: Memory) -> Memory:
        for number, topic in enumerate(["home", "work", "work"]):
            said, about = f"note {number}", {"topic": topic, "n": number}
            mem.add(said, user_id="alice", infer=False, metadata=about)
        return mem

    @pytest.mark.parametrize(
        ("condition", "wanted"),
        [
            ({"topic": "home"}, {0}),
            ({"topic": "*"}, {0, 1, 2}),
            ({"n": {"gt": 0}}, {1, 2}),
            ({"n": {"gte": 1, "lt": 2}}, {1}),
            ({"n": {"lte": 0}}, {0}),
            ({"topic": {"ne": "home"}}, {1, 2}),
            ({"topic": {"in": ["home", "x"]}}, {0}),
            ({"topic": {"nin": ["home"]}}, {1, 2}),
            ({"topic": {"contains": "or"}}, {1, 2}),
            ({"topic": {"icontains": "HOM"}}, {0}),
            ({"AND": [{"topic": "work"}, {"n": 2}]}, {2}),
            ({"OR": [{"n": 0}, {"n": 2}]}, {0, 2}),
            ({"NOT": [{"topic": "work"}]}, {0}),
            ({"n": {"gt": "text"}}, set()),
        ],
    )
    def test_filters(self, filled: Memory, condition: dict[str, Any], wanted: set[int]) -> None:
        """Every operator of mem0's filters."""
        found = filled.get_all(filters={**ALICE, **condition})["results"]
        assert {one["metadata"]["n"] for one in found} == wanted

    def test_ids_may_stand_within_and(self, filled: Memory) -> None:
        """The platform's way of writing filters."""
        found = filled.get_all(filters={"AND": [ALICE, {"topic": "home"}]})
        assert texts(found) == ["note 0"]

    def test_an_unknown_operator_is_refused(self, filled: Memory) -> None:
        """The error names the operators that there are."""
        with pytest.raises(InvalidInput, match="'near' on 'n' is not one of eq, ne"):
            filled.get_all(filters={**ALICE, "n": {"near": 3}})

    def test_metadata_says_nothing_of_whose_it_is(self, mem: Memory) -> None:
        """An id in metadata places a memory with nobody else."""
        mem.add("note", user_id="alice", infer=False, metadata={"user_id": "bob", "n": 1})
        assert mem.get_all(filters={"user_id": "bob"}) == {"results": []}
        assert mem.get_all(filters=ALICE)["results"][0]["metadata"] == {"n": 1}

    @pytest.mark.parametrize(
        "metadata", [{"n": float("nan")}, {"n": object()}, ["n"], {"n": "x" * 200_000}]
    )
    def test_metadata_that_cannot_be_kept_is_refused(self, mem: Memory, metadata: Any) -> None:
        """Before anything is observed."""
        with pytest.raises(InvalidInput, match="metadata"):
            mem.add("My address is 1 Elm Row.", user_id="alice", metadata=metadata)
        assert mem.get_all(filters=ALICE) == {"results": []}

    def test_nobody_is_the_keeper_of_metadata(self, memory: incumbent.Memory) -> None:
        """Neither its name nor the id of what it keeps shows what others have."""
        mem = Memory(memory)
        mem.add("note", user_id="alice", infer=False, metadata={"ticket": "ZX-81"})
        for call in (mem.get_all, mem.delete_all):
            with pytest.raises(InvalidInput, match="reserved"):
                call(user_id="incumbent.compat.mem0")
        kept = memory.session(user_id="incumbent.compat.mem0").facts()
        assert [mem.get(fact.id) for fact in kept] == [None]

    def test_metadata_stands_in_no_context(self, memory: incumbent.Memory) -> None:
        """It is the application's, and no word of the person."""
        mem = Memory(memory)
        mem.add("My address is 1 Elm Row.", user_id="alice", metadata={"ticket": "ZX-81"})
        context = memory.session(user_id="alice").context("What is the ticket?")
        assert "1 Elm Row" in context.text
        assert "ZX-81" not in context.text

    def test_to_forget_a_person_is_to_forget_their_metadata(self, memory: incumbent.Memory) -> None:
        """Nothing of it is left in an export of the organization."""
        mem = Memory(memory)
        mem.add("My address is 1 Elm Row.", user_id="alice", metadata={"ticket": "ZX-81"})
        memory.forget(organization="default", user_id="alice")
        assert "ZX-81" not in str(list(memory.export("default")))


class TestOneMemory:
    """`get`, `update`, `delete` and `history` need nothing but an id."""

    @pytest.mark.on_every_store
    def test_a_memory_is_updated_and_deleted_by_its_id(self, mem: Memory) -> None:
        """It keeps its id and gains metadata; once deleted, only its history is left."""
        memory_id = corrected(mem)
        done = mem.update(memory_id, "shipping address: 9 Elm Row", metadata={"by": "me"})
        assert done == {"message": "Memory updated successfully!"}
        found = mem.get(memory_id)
        assert found is not None
        assert (found["id"], found["memory"]) == (memory_id, "shipping address: 9 Elm Row")
        assert found["metadata"] == {"by": "me"}
        assert found["created_at"] < found["updated_at"]
        assert "456 Oak Ave" not in str(mem.get_all(filters=ALICE))
        assert mem.delete(memory_id) == {"message": "Memory deleted successfully!"}
        assert mem.get(memory_id) is None
        last = mem.history(memory_id)[-1]
        assert (last["event"], last["is_deleted"], last["new_memory"]) == ("DELETE", True, None)

    def test_metadata_alone_can_be_updated(self, mem: Memory) -> None:
        """The text stays, and so does what was known."""
        [made] = mem.add("note", user_id="alice", infer=False, metadata={"a": 1})["results"]
        mem.update(made["id"], metadata={"b": 2})
        found = mem.get(made["id"])
        assert found is not None
        assert (found["memory"], found["metadata"]) == ("note", {"a": 1, "b": 2})

    def test_native_facts_are_memories_as_well(self, memory: incumbent.Memory) -> None:
        """What a session of Incumbent wrote is found, got and deleted like the rest."""
        memory.session(user_id="alice").write("shipping_address", "1 Elm Row")
        mem = Memory(memory)
        [found] = mem.get_all(filters=ALICE)["results"]
        assert found["memory"] == "shipping address: 1 Elm Row"
        mem.delete(found["id"])
        assert memory.session(user_id="alice").current("shipping_address") is None

    @pytest.mark.parametrize("call", ["update", "delete"])
    def test_what_is_not_there_is_told(self, mem: Memory, call: str) -> None:
        """An unknown id is a ValueError, as in mem0; reading one gives nothing."""
        given = ("no such id", "text") if call == "update" else ("no such id",)
        with pytest.raises(ValueError, match="not found"):
            getattr(mem, call)(*given)
        assert mem.get("no such id") is None
        assert mem.history("no such id") == []

    def test_a_higher_authority_is_not_updated_away(self, memory: incumbent.Memory) -> None:
        """The word of a policy stays, and the error says how to go on."""
        policy = memory.session(user_id="alice", authority="policy")
        policy.write("refunds", "within 30 days")
        mem = Memory(memory)
        [found] = mem.get_all(filters=ALICE)["results"]
        with pytest.raises(incumbent.NotPermitted, match="higher authority"):
            mem.update(found["id"], "refunds: never")
        assert "within 30 days" in texts(mem.get_all(filters=ALICE))[0]

    def test_delete_all_takes_what_is_theirs(self, memory: incumbent.Memory) -> None:
        """Alice's memories go, Bob's and everybody's stay."""
        mem = Memory(memory)
        corrected(mem)
        mem.add("My address is 1 Elm Row.", user_id="bob")
        boss = memory.session(user_id="boss", authority="executive")
        boss.write("office", "12 Dock Rd", memory_type="organizational")
        assert mem.delete_all(user_id="alice") == {"message": "Memories deleted successfully!"}
        assert texts(mem.get_all(filters=ALICE)) == ["office: 12 Dock Rd"]
        assert "address: 1 Elm Row" in texts(mem.get_all(filters={"user_id": "bob"}))

    def test_delete_all_of_a_run_leaves_the_other_runs(self, mem: Memory) -> None:
        """Only what that run brought goes."""
        mem.add("note one", user_id="alice", run_id="r1", infer=False)
        mem.add("note two", user_id="alice", run_id="r2", infer=False)
        mem.delete_all(run_id="r1")
        assert texts(mem.get_all(filters=ALICE)) == ["note two"]


class TestSearching:
    """`search` ranks by words and meaning, and gives scores."""

    def test_the_best_comes_first_with_a_score(self, mem: Memory) -> None:
        """Scores fall, and none is below the threshold."""
        mem.add("I ride a red bicycle to work.", user_id="alice", infer=False)
        mem.add("My sister bakes bread on Sundays.", user_id="alice", infer=False)
        found = mem.search("bicycle", filters=ALICE, threshold=0.0)["results"]
        scores = [one["score"] for one in found]
        assert "bicycle" in found[0]["memory"]
        assert scores == sorted(scores, reverse=True)
        assert len(mem.search("bicycle", filters=ALICE, top_k=1)["results"]) == 1
        assert mem.search("bicycle", filters=ALICE, threshold=1.0) == {"results": []}

    def test_scores_can_be_explained(self, mem: Memory) -> None:
        """`explain` gives the parts of a score."""
        mem.add("I ride a red bicycle to work.", user_id="alice", infer=False)
        [found] = mem.search("bicycle", filters=ALICE, explain=True)["results"]
        assert found["score_details"]

    @pytest.mark.parametrize(
        "given",
        [{"query": " "}, {"top_k": -1}, {"top_k": True}, {"threshold": 2}, {"filters": "alice"}],
    )
    def test_bad_questions_are_refused(self, mem: Memory, given: dict[str, Any]) -> None:
        """As mem0 refuses them: with a ValueError."""
        with pytest.raises(ValueError):
            mem.search(**{"query": "bicycle", "filters": ALICE, **given})

    def test_a_memory_that_repeats_a_dead_value_is_shown_without_it(self, mem: Memory) -> None:
        """Also where the value stands in another memory."""
        mem.add("Ask the courier to come to 123 Main St", user_id="alice", infer=False)
        [raw] = mem.get_all(filters=ALICE)["results"]
        assert "123 Main St" in raw["memory"]
        session = mem.incumbent.session(user_id="alice")
        session.write("shipping_address", "123 Main St")
        session.write("shipping_address", "456 Oak Ave")
        mem.delete(raw["id"])
        made = mem.add(
            [{"role": "assistant", "content": "The courier comes to 123 Main St at noon"}],
            user_id="alice",
            infer=False,
        )
        found = mem.get(made["results"][0]["id"])
        assert found is not None
        assert found["memory"] == "The courier comes to [no longer current] at noon"

    def test_a_memory_may_say_what_it_was_before_and_more(self, mem: Memory) -> None:
        """The text that an update gives is shown whole, though it repeats the old one."""
        [made] = mem.add("Likes tea", user_id="alice", infer=False)["results"]
        mem.update(made["id"], "Likes tea and coffee")
        assert texts(mem.get_all(filters=ALICE)) == ["Likes tea and coffee"]
        assert texts(mem.search("tea", filters=ALICE)) == ["Likes tea and coffee"]

    def test_a_word_that_others_use_stays(self, mem: Memory) -> None:
        """Who moved away from a town may still speak of it."""
        session = mem.incumbent.session(user_id="alice")
        session.write("home", "Berlin")
        session.write("home", "Paris")
        mem.add("I love Berlin techno", user_id="alice", infer=False)
        assert "I love Berlin techno" in texts(mem.get_all(filters=ALICE))
        assert "I love Berlin techno" in texts(mem.search("techno", filters=ALICE))


class TestRefusals:
    """What is not carried over is refused in words that name what to do instead."""

    @pytest.mark.parametrize(
        ("call", "given", "told"),
        [
            ("add", {"messages": "x", "memory_type": "procedural_memory"}, "infer=False"),
            ("add", {"messages": "x", "prompt": "extract"}, r"Settings\(llm=\.\.\.\)"),
            ("add", {"messages": "x", "expiration_date": "2099-01-01"}, "valid_until"),
            ("search", {"query": "x", "rerank": True}, "leave rerank out"),
            ("search", {"query": "x", "reference_date": "2026-01-01"}, "as_of"),
            ("search", {"query": "x", "show_expired": True}, "history"),
            ("search", {"query": "x", "enable_graph": True}, "depends_on"),
            ("search", {"query": "x", "keyword_search": True}, "takes no 'keyword_search'"),
            ("get_all", {"show_expired": True}, "history"),
        ],
    )
    def test_options(self, mem: Memory, call: str, given: dict[str, Any], told: str) -> None:
        """Each error says what to do instead, and nothing is written."""
        with pytest.raises(NotCarriedOver, match=told):
            getattr(mem, call)(user_id="alice", **given)
        assert mem.get_all(filters=ALICE) == {"results": []}

    def test_pictures(self, mem: Memory) -> None:
        """A message with a picture is refused, and not read as if it had none."""
        parts = [{"type": "image_url", "image_url": {"url": "https://x"}}]
        with pytest.raises(NotCarriedOver, match="describe them"):
            mem.add([{"role": "user", "content": parts}], user_id="alice")

    @pytest.mark.parametrize("call", [Memory.from_config, AsyncMemory.from_config, Memory])
    def test_configurations(self, call: Any) -> None:
        """Vector stores and models of mem0 are not used; the error names stores of Incumbent."""
        with pytest.raises(NotCarriedOver, match=r'Memory\("agent.db"\)'):
            call({"vector_store": {"provider": "qdrant"}})

    def test_reset_and_chat(self, mem: Memory) -> None:
        """To empty everything at once takes a name."""
        with pytest.raises(NotCarriedOver, match="delete_all"):
            mem.reset()
        with pytest.raises(NotCarriedOver, match="context"):
            mem.chat("hello")

    def test_an_end_alone_cannot_be_updated(self, mem: Memory) -> None:
        """A day to end at goes with a text."""
        [made] = mem.add("note", user_id="alice", infer=False)["results"]
        with pytest.raises(NotCarriedOver, match="text"):
            mem.update(made["id"], expiration_date="2099-01-01")
        mem.update(made["id"], "another note", expiration_date="2099-01-01")
        found = mem.get(made["id"])
        assert found is not None
        assert found["expiration_date"] == "2099-01-01"


def test_it_outlives_the_process(store_path: Path) -> None:
    """In a file everything is there again, metadata included."""
    with Memory(store_path, settings=QUICK) as mem:
        [made] = mem.add("note", user_id="alice", infer=False, metadata={"a": 1})["results"]
    with Memory(store_path, settings=QUICK) as mem:
        found = mem.get(made["id"])
    assert found is not None
    assert found["metadata"] == {"a": 1}


def test_a_memory_that_was_open_stays_open(memory: incumbent.Memory) -> None:
    """Who opened a memory closes it."""
    Memory(memory).close()
    memory.session(user_id="alice").write("k", "v")


def test_organizations_do_not_meet(memory: incumbent.Memory) -> None:
    """The same user of another organization has nothing, not even by the id."""
    acme, other = Memory(memory, organization="acme"), Memory(memory, organization="other")
    [made] = acme.add("note", user_id="alice", infer=False)["results"]
    assert other.get_all(filters=ALICE) == {"results": []}
    assert other.get(made["id"]) is None


def test_awaited(memory: incumbent.Memory) -> None:
    """`AsyncMemory` gives what `Memory` gives."""

    async def talk() -> tuple[dict[str, Any], dict[str, Any] | None]:
        async with AsyncMemory(memory) as mem:
            await mem.add(ORDER, user_id="alice")
            made = await mem.add(CORRECTION, user_id="alice")
            with pytest.raises(NotCarriedOver):
                await mem.add("x", user_id="alice", llm=object())
            found = await mem.search("Where do we ship?", filters=ALICE)
            return found, await mem.get(made["results"][0]["id"])

    found, one = asyncio.run(talk())
    assert found == Memory(memory).search("Where do we ship?", filters=ALICE)
    assert one is not None


def test_over_a_service(open_memory: OpenMemory) -> None:
    """The same calls, with ids that say whose a memory is."""
    with Running(open_memory()) as service:
        with Memory(service.address) as mem:
            memory_id = corrected(mem)
            assert memory_id.endswith("@alice")
            assert "123 Main St" not in str(mem.search("Where do we ship?", filters=ALICE))
        with Memory(service.address) as mem:
            found = mem.get(memory_id)
            assert found is not None
            assert found["memory"] == "shipping address: 456 Oak Ave"
            mem.update(memory_id, "9 Elm Row")
            assert len(mem.history(memory_id)) == 3
            mem.delete(memory_id)
            with pytest.raises(InvalidInput, match="does not say whose it is"):
                mem.get("0197b0f2-7c1a-7000-8000-0123456789ab")


def test_over_a_service_a_key_speaks_for_those_it_may(open_memory: OpenMemory) -> None:
    """One for every user does everything; one of Alice's has nothing of Bob's."""
    memory = open_memory()
    with Running(memory) as service:
        everybody = a_key(memory, "read", "write")
        with Memory(service.address, key=everybody, organization="acme") as mem:
            [made] = mem.add("note", user_id="bob", infer=False, metadata={"a": 1}, agent_id="bot")[
                "results"
            ]
            [found] = mem.get_all(filters={"agent_id": "bot"})["results"]
            assert (found["user_id"], found["metadata"]) == ("bob", {"a": 1})
        hers = a_key(memory, "read", "write", user_id="alice")
        with Memory(service.address, key=hers, organization="acme") as mem:
            for call in (mem.get, mem.history, mem.delete):
                with pytest.raises(incumbent.NotPermitted):
                    call(made["id"])
            with pytest.raises(incumbent.NotPermitted):
                mem.get_all(filters={"user_id": "bob"})
