"""A model that is slow, wrong, silent or gone: the offline reading stands, and that is said."""

from __future__ import annotations

import logging
import threading
from typing import Any

import pytest

import incumbent
from incumbent.reading.asked import Answer, Ask, Trouble
from incumbent.reading.asked.asking import asked
from incumbent.reading.asked.config import LLM
from tests.conftest import OpenMemory
from tests.llm.scripted import Scripted, answer, entry, keeping, link, opinion, reasons, settings
from tests.patience import PATIENCE

TEXT = "My address is 1 Main St."
BUSY = Trouble("http", "the provider answered with status 503", may_pass=True)


class Slow:
    """Answers when nobody waits any more."""

    name = "slow:model"

    def __init__(self) -> None:
        self.over = threading.Event()

    def complete(self, ask: Ask, *, timeout: float) -> Answer:
        self.over.wait(PATIENCE)
        return Answer(answer())


class Free:
    """A budget without an end."""

    def reserve(self, ask: Ask) -> None: ...
    def settle(self, *, tokens: tuple[int, int] | None, failed: bool) -> None: ...


def _as_it_is(content: Any) -> Any:
    return content


def test_a_slow_model_is_not_waited_for(open_memory: OpenMemory) -> None:
    """After the timeout the turn is there as the offline reading has it, and says why."""
    model = Slow()
    memory = open_memory(settings=settings(model, timeout=0.3))
    session = memory.session(user_id="ann", organization="acme")
    made = session.observe(TEXT)
    assert (opinion(made).status, opinion(made).reason) == ("failed", "no answer within 0.3 s")
    assert session.current("address") == "1 Main St"
    (usage,) = memory.usage("acme")
    assert (usage.calls, usage.failed, usage.turns) == (1, 1, 0)
    assert usage.input_tokens > 0  # it may have been read, and paid for
    assert usage.output_tokens == 0
    model.over.set()


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        "text",
        {},
        {"candidates": []},
        {"statements": {}},
        {"statements": [1, None]},
        answer({"does": []}),
        answer({"s": 1, "does": []}),
        answer({"s": "s1", "does": "k1"}),
        answer(entry("s1", {"to": "k1", "is": "sworn", "sure": True})),
        answer(entry("s1", link("k1", "ends") | {"sure": "yes"})),
        answer(entry("s1", until="Friday")),
        answer(entry("s1", says="x" * 401)),
    ],
)
def test_an_answer_of_the_wrong_form_is_no_opinion(open_memory: OpenMemory, content: Any) -> None:
    """Each attempt is counted, and the last one decides."""
    model = Scripted(*([lambda ask: content] * 3))
    memory = open_memory(settings=settings(model))
    session = memory.session(user_id="ann", organization="acme")
    made = session.observe(TEXT)
    assert opinion(made).status == "failed"
    assert opinion(made).reason == "the answer was not in the form that was asked for"
    assert session.current("address") == "1 Main St"
    assert len(model.asked) == 3
    (usage,) = memory.usage("acme")
    assert (usage.calls, usage.failed, usage.tokens) == (3, 3, 360)


def test_a_bad_item_does_not_spoil_the_good_ones(open_memory: OpenMemory) -> None:
    """An entry that cannot be read is dropped and told of; the others count."""
    good = entry("s1", attribute="allergy", value="Peanuts")
    model = Scripted(answer({**good, "from": "soon"}, good))
    session = open_memory(settings=settings(model)).session(user_id="ann")
    made = session.observe("Peanuts make me ill.")
    assert sorted(outcome for outcome, _ in reasons(made)) == ["accepted", "dropped"]
    assert ("dropped", "not in the form asked for: from is no day") in reasons(made)


def test_what_may_pass_is_tried_again(open_memory: OpenMemory) -> None:
    """Two busy answers, then one that counts."""
    model = Scripted(BUSY, BUSY, keeping)
    memory = open_memory(settings=settings(model))
    session = memory.session(user_id="ann", organization="acme")
    assert opinion(session.observe("Peanuts make me ill.")).status == "given"
    (usage,) = memory.usage("acme")
    assert (usage.calls, usage.failed, usage.turns) == (3, 2, 1)


@pytest.mark.parametrize(
    ("trouble", "calls"),
    [
        (Trouble("refused", "the model refused"), 1),
        (Trouble("http", "the provider answered with status 401"), 1),
        (RuntimeError("sk-secret in a message"), 1),
        (BUSY, 3),
    ],
    ids=["refusal", "unauthorized", "a client's own error", "busy for good"],
)
def test_the_offline_reading_stands(
    open_memory: OpenMemory, caplog: pytest.LogCaptureFixture, trouble: BaseException, calls: int
) -> None:
    """Whatever goes wrong, the turn is observed, and the reason is one line without secrets."""
    model = Scripted(*([trouble] * 3))
    session = open_memory(settings=settings(model)).session(user_id="ann")
    with caplog.at_level(logging.WARNING, "incumbent.llm"):
        made = session.observe(TEXT)
    assert session.current("address") == "1 Main St"
    assert opinion(made).status == "failed"
    assert "\n" not in opinion(made).reason
    assert "secret" not in opinion(made).reason + caplog.text
    assert "the offline reading stands" in caplog.text
    assert len(model.asked) == calls


def test_pauses_grow_and_vary() -> None:
    """Each pause is up to twice the one before, at least half of that, and never over the limit."""
    pauses: list[float] = []
    llm = LLM("x:y", retries=7, backoff=1.0, timeout=3600.0)
    chances = iter([1.0, 0.0, 0.5, 1.0, 1.0, 1.0, 1.0])

    model = Scripted(*([BUSY] * 8))
    ask = Ask("", "", {}, 1)
    with pytest.raises(Trouble):
        asked(
            *(model, llm, ask, Free(), _as_it_is),
            sleep=pauses.append,
            chance=lambda: next(chances, 1.0),
        )
    assert pauses == [1.0, 1.0, 3.0, 8.0, 16.0, 20.0, 20.0]
    assert len(model.asked) == 8


def test_a_provider_that_wants_to_be_left_alone_is() -> None:
    """The pause is as long as its Retry-After says, and no request is made before."""
    pauses: list[float] = []
    busy = Trouble("http", "the provider answered with status 429", may_pass=True, wait=7.0)

    llm = LLM("x:y", retries=1, backoff=0.5, timeout=30.0)
    ask = Ask("", '<a>\n{"known":[],"turns":[]}\n</a>', {}, 1)
    asked(Scripted(busy), llm, ask, Free(), _as_it_is, sleep=pauses.append)
    assert pauses == [7.0]


def test_a_model_that_is_of_no_use_is_set_aside(
    open_memory: OpenMemory, caplog: pytest.LogCaptureFixture
) -> None:
    """After some answers that cannot be believed it is asked no more, with one warning."""
    model = Scripted(*([answer(entry("s9"), entry("s8"))] * 20))
    session = open_memory(settings=settings(model)).session(user_id="ann")
    with caplog.at_level(logging.WARNING, "incumbent.llm"):
        made = [session.observe(f"Shelf {n} is full of old tins.") for n in range(9)]
    assert len(model.asked) == 6
    assert opinion(made[-1]).reason.startswith("the model was set aside")
    assert sum("set aside until" in one.message for one in caplog.records) == 1
    assert len(session.facts()) > 0


def test_an_answer_that_is_mostly_wrong_is_not_put_into_effect(open_memory: OpenMemory) -> None:
    """Where most entries are of nothing that was shown, the offline reading stands."""
    model = Scripted(answer(entry("s9"), entry("s8"), entry("s1")))
    session = open_memory(settings=settings(model)).session(user_id="ann")
    made = session.observe("The shelf is full of old tins. The window is open.")
    assert opinion(made).reason == "most of the answer could not be believed"
    assert len(session.facts()) == 2


def test_a_model_that_is_mostly_right_is_kept(open_memory: OpenMemory) -> None:
    """A bad answer now and then does not count against the good ones."""
    bad = answer(entry("s9"), entry("s8"))
    script: list[Any] = [bad, keeping, keeping] * 5
    model = Scripted(*script)
    session = open_memory(settings=settings(model)).session(user_id="ann")
    for n in range(15):
        session.observe(f"Shelf {n} is full of old tins.")
    assert len(model.asked) == 15


def test_no_pause_goes_past_the_deadline() -> None:
    """Where a pause would take longer than the time that is left, it is over at once."""
    llm = LLM("x:y", retries=5, backoff=30.0, timeout=10.0)

    def sleep(seconds: float) -> None:
        raise AssertionError("nobody should wait")

    with pytest.raises(Trouble, match="503"):
        asked(Scripted(BUSY), llm, Ask("", "", {}, 1), Free(), _as_it_is, sleep=sleep)


# budgets


def test_an_exhausted_budget_of_calls_falls_back(open_memory: OpenMemory) -> None:
    """The last call of the day is made, and the next turn goes without."""
    model = Scripted()
    memory = open_memory(settings=settings(model, calls_per_day=2))
    session = memory.session(user_id="ann", organization="acme")
    statuses = [opinion(session.observe(f"Shelf {n} is full.")).status for n in range(4)]
    assert statuses == ["given", "given", "failed", "failed"]
    made = session.observe(TEXT)
    assert opinion(made).reason == "the budget of 2 calls a day is exhausted (2 used)"
    assert session.current("address") == "1 Main St"
    assert len(model.asked) == 2


def test_a_budget_is_an_organizations_own(open_memory: OpenMemory) -> None:
    """One that has spent its budget leaves the other's alone, and counts stay apart."""
    memory = open_memory(settings=settings(Scripted(), calls_per_day=1, input_price=2.0))
    acme, globex = (memory.session(user_id="ann", organization=name) for name in ("acme", "globex"))
    assert opinion(acme.observe("Shelf 1 is full.")).status == "given"
    assert opinion(acme.observe("Shelf 2 is full.")).status == "failed"
    assert opinion(globex.observe("Shelf 1 is full.")).status == "given"
    assert [memory.usage(name)[0].calls for name in ("acme", "globex")] == [1, 1]


def test_a_budget_of_tokens_is_never_overrun(open_memory: OpenMemory) -> None:
    """What a request may take is set aside first, so that it is refused before it is made."""
    model = Scripted(tokens=(900, 50))
    limit = 8_000
    memory = open_memory(settings=settings(model, tokens_per_day=limit, max_output_tokens=500))
    session = memory.session(user_id="ann", organization="acme")
    statuses = [opinion(session.observe(f"Shelf {n} is full.")).status for n in range(12)]
    assert statuses[0] == "given"
    assert statuses[-1] == "failed"
    (usage,) = memory.usage("acme")
    assert usage.tokens == 950 * len(model.asked) <= limit


def test_a_new_day_brings_a_new_budget(open_memory: OpenMemory, clock: Any) -> None:
    """Budgets are per day in UTC, and every day has its own row."""
    memory = open_memory(settings=settings(Scripted(), calls_per_day=1))
    session = memory.session(user_id="ann", organization="acme")
    assert opinion(session.observe("Shelf 1 is full.")).status == "given"
    assert opinion(session.observe("Shelf 2 is full.")).status == "failed"
    clock.advance(days=1)
    assert opinion(session.observe("Shelf 3 is full.")).status == "given"
    days = [usage.day for usage in memory.usage("acme")]
    assert len(days) == 2
    assert [usage.day for usage in memory.usage("acme", since=days[1])] == days[1:]


def test_costs_are_counted(open_memory: OpenMemory) -> None:
    """Tokens at the user's prices per million make the cost."""
    model = Scripted(tokens=(1_000, 200))
    memory = open_memory(settings=settings(model, input_price=2.5, output_price=10.0))
    session = memory.session(user_id="ann", organization="acme")
    session.observe("Shelf 1 is full.")
    session.observe("Shelf 2 is full.")
    (usage,) = memory.usage("acme")
    assert (usage.input_tokens, usage.output_tokens) == (2_000, 400)
    assert usage.cost == pytest.approx(2 * (0.0025 + 0.002))


def test_processes_share_a_budget(store_path: Any) -> None:
    """Two memories on one file count together."""
    given = settings(Scripted(), calls_per_day=1)
    with (
        incumbent.open(store_path, settings=given) as one,
        incumbent.open(store_path, settings=given) as other,
    ):
        made = one.session(user_id="ann", organization="acme").observe("Shelf 1 is full.")
        assert opinion(made).status == "given"
        made = other.session(user_id="ann", organization="acme").observe("Shelf 2 is full.")
        assert opinion(made).status == "failed"
        assert other.usage("acme") == one.usage("acme")


def test_no_transaction_is_open_while_a_model_is_asked(open_memory: OpenMemory) -> None:
    """Others write in the meantime, and the model is even waiting for them."""
    opened: list[incumbent.Memory] = []

    def write() -> None:
        opened[0].session(user_id="bob", organization="acme").write("x", 1)

    def script(ask: Ask) -> dict[str, Any]:
        done = threading.Thread(target=write)
        done.start()
        done.join(PATIENCE)
        assert not done.is_alive()
        return answer()

    memory = open_memory(settings=settings(Scripted(script)))
    opened.append(memory)
    made = memory.session(user_id="ann", organization="acme").observe(TEXT)
    assert opinion(made).status == "given"
    assert memory.session(user_id="bob", organization="acme").current("x") == 1


def test_a_budget_in_money_holds(open_memory: OpenMemory) -> None:
    """What the greatest answer would cost has to be left; what an answer took is what counts."""
    model = Scripted(tokens=(1_000, 100))
    given = settings(
        model, input_price=100.0, output_price=500.0, max_output_tokens=1_000, cost_per_day=0.8
    )
    ann = open_memory(settings=given).session(user_id="ann", organization="acme")
    assert opinion(ann.observe("Shelf 1 is full.")).status == "given"
    assert opinion(ann.observe("Shelf 2 is full.")).status == "given"
    late = opinion(ann.observe("Shelf 3 is full."))
    assert "the budget of 0.8 in money a day is exhausted (0.3 used)" in late.reason
