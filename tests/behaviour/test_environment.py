"""Layer 4 under strain: providers that fail, hang, exit, or return what nobody can use."""

from __future__ import annotations

import gc
import math
import os
import re
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incumbent
from incumbent import Environment, Signal
from incumbent.environment import Providers
from incumbent.model.values import canonical
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
LIMIT = 64_000
AMPLE = 5.0
"""A timeout that is waited for, and that whoever does answer keeps on a busy machine, too."""
HASTY = 0.05
"""A timeout for readings in which nothing is to answer."""


def providers(timeout: float = PATIENCE, **asked: Callable[[], Any]) -> Providers:
    """Providers of a memory, without the memory."""
    made = Providers("UTC", LIMIT, timeout)
    for name, provider in asked.items():
        made.provide(name, provider)
    return made


def reason(value: Any) -> str:
    """Why a signal of this value is unavailable; a second provider must not be affected."""
    seen = providers(bad=lambda: value, good=lambda: 1).read(NOW)
    assert dict(seen.external_data) == {"good": 1}
    assert list(seen.unavailable) == ["bad"]
    return seen.unavailable["bad"]


def until(done: Callable[[], bool]) -> None:
    """Wait for something that other threads bring about."""
    give_up = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < give_up, "it never happened"
        time.sleep(0.001)


def threads_of_providers() -> int:
    return sum(thread.name.startswith("incumbent provider") for thread in threading.enumerate())


class Hanging:
    """A provider that answers with its number of calls, once it is let go."""

    def __init__(self) -> None:
        self.calls = 0
        self.released = threading.Event()
        self._counting = threading.Lock()

    def __call__(self) -> str:
        with self._counting:
            self.calls += 1
            number = self.calls
        self.released.wait()
        return f"answer {number}"


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    """A provider that hangs until the test is over, or lets it go."""
    provider = Hanging()
    yield provider
    provider.released.set()
    until(lambda: threads_of_providers() == 0)


class TestFailing:
    """A provider that raises."""

    def test_the_reason_is_type_and_message_and_the_rest_is_read(self) -> None:
        """One failure costs one signal."""

        def broken() -> object:
            raise ConnectionError("refused by 10.0.0.7")

        seen = providers(feed=broken, stock=lambda: 3, location=lambda: "Lyon").read(NOW)
        assert seen.unavailable == {"feed": "ConnectionError: refused by 10.0.0.7"}
        assert (dict(seen.external_data), seen.location) == ({"stock": 3}, "Lyon")

    @pytest.mark.parametrize(
        "error",
        [SystemExit(3), KeyboardInterrupt("now"), GeneratorExit(), BaseException("bare")],
        ids=repr,
    )
    def test_not_even_an_exit_leaves_the_provider(self, error: BaseException) -> None:
        """What would end a program is one more reason why a signal is missing."""

        def leaving() -> object:
            raise error

        seen = providers(feed=leaving, stock=lambda: 3).read(NOW)
        assert seen.unavailable["feed"].startswith(type(error).__name__)
        assert dict(seen.external_data) == {"stock": 3}

    @pytest.mark.parametrize(
        ("message", "shown"),
        [
            ("", "OSError"),
            ("two\nlines\tand \x1b[31mred", "OSError: two lines and [31mred"),
            ("half a smile \ud83d", "OSError: half a smile"),
            ("\u202eturned", "OSError: turned"),
        ],
    )
    def test_a_message_is_shown_on_one_line(self, message: str, shown: str) -> None:
        """Nothing of it can break a line, steer a terminal or fail to be stored."""

        def broken() -> object:
            raise OSError(message)

        assert providers(feed=broken).read(NOW).unavailable == {"feed": shown}

    def test_a_long_message_is_cut(self) -> None:
        """Of ten megabytes of message the beginning and the end are enough."""

        def broken() -> object:
            raise OSError("status 500 " + "x" * 10_000_000 + " gave up")

        told = providers(feed=broken).read(NOW).unavailable["feed"]
        assert told.startswith("OSError: status 500 xxx")
        assert "x…x" in told
        assert told.endswith("x gave up")
        assert len(told) <= 200

    def test_an_error_that_cannot_be_shown_is_named_by_type(self) -> None:
        """The message of an error is code of the provider too, and may fail as well."""

        class Mute(Exception):
            def __str__(self) -> str:
                raise SystemExit

        def broken() -> object:
            raise Mute

        assert providers(feed=broken).read(NOW).unavailable == {"feed": "Mute"}

    def test_an_error_of_ours_speaks_for_itself(self, memory: incumbent.Memory) -> None:
        """A provider may use the memory; what Incumbent says to it is passed on."""
        alice = memory.session(user_id="alice")
        memory.environment.provide("city", lambda: alice.get("no-such-fact") or alice.undo("nope"))
        assert "nope" in alice.environment.unavailable["city"]

    def test_a_failure_is_a_line_of_the_context(self, memory: incumbent.Memory) -> None:
        """Whoever reads the context learns that the signal is missing."""

        def broken() -> object:
            raise OSError("no route")

        memory.environment.provide("feed", broken)
        text = memory.session(user_id="alice").context("?").text
        assert "feed: not available right now" in text


class TestUnusable:
    """A provider that returns what a context cannot carry."""

    @pytest.mark.parametrize(
        ("value", "match"),
        [
            (object(), "type object"),
            (b"bytes", "type bytes"),
            ({1, 2}, "type set"),
            ((1, 2), "type tuple"),
            (OrderedDict(a=1), "type OrderedDict"),
            (NOW, "type datetime"),
            (OSError("returned"), "type OSError"),
            (Signal(Signal(1)), "type Signal"),
            (math.nan, "nan"),
            (-math.inf, "-inf"),
            ("half a smile \ud83d", "surrogate"),
            ("cut \x00 short", "NUL"),
            ({"a": [1, {"b": object()}]}, r"value\['a'\]\[1\]\['b'\] is of type object"),
            ({1: "one"}, "key of type int"),
            ([10**5000], "cannot be written as JSON"),
        ],
    )
    def test_no_json_value(self, value: Any, match: str) -> None:
        """The reason names the type and the place, and is short."""
        told = reason(value)
        assert re.search(match, told)
        assert len(told) <= 200

    def test_nesting_has_a_limit(self) -> None:
        """A value nested too deep is refused, and one without end too."""
        deep: list[Any] = []
        for _ in range(100):
            deep = [deep]
        assert "nested deeper" in reason(deep)
        endless: list[Any] = []
        endless.append(endless)
        assert "bytes" in reason(endless)

    def test_a_long_repr_does_not_get_into_the_reason(self) -> None:
        """However the value shows itself, the reason stays short and on one line."""

        class Loud:
            def __repr__(self) -> str:
                return "loud\n" * 1_000_000

        assert "type Loud" in reason(Loud())
        assert "is of type Loud" in reason({"key" * 1000: Loud()})
        assert len(reason({Loud(): 1})) <= 200
        assert "\n" not in reason({Loud(): 1})

    def test_an_async_provider_is_told_apart(self) -> None:
        """Its coroutine is closed, so that Python does not warn that nobody awaited it."""

        async def feed() -> int:
            return 1

        seen = providers(feed=feed).read(NOW)
        gc.collect()
        assert "not an async one" in seen.unavailable["feed"]

    @pytest.mark.parametrize(
        "make",
        [  # made when asked for: to collect tests takes no megabytes
            lambda: "x" * 10_000_000,
            lambda: ["x" * 100] * 100_000,
            lambda: {str(number): number for number in range(1_000_000)},
            lambda: {"x" * 10_000_000: 1},
            lambda: [[[["x"] * 1000] * 1000] * 1000] * 1000,
            lambda: "é" * (LIMIT // 2),
            lambda: "\n" * (LIMIT // 2),
        ],
        ids=["text", "list", "object", "key", "terabytes", "two bytes each", "escaped"],
    )
    def test_too_big(self, make: Callable[[], Any]) -> None:
        """Megabytes are refused with the limit and the setting that raises it."""
        told = reason(make())
        assert told.startswith("takes more than 64,000 bytes")
        assert "Settings.max_signal_bytes" in told

    def test_as_big_as_allowed(self) -> None:
        """The limit is on the JSON text, quotes included, and is itself allowed."""
        fits = "x" * (LIMIT - 2)
        assert providers(feed=lambda: fits).read(NOW).external_data["feed"] == fits
        assert "takes more" in reason(fits + "x")

    def test_the_limit_is_a_setting(self) -> None:
        """Who needs bigger signals raises it."""
        with incumbent.open(":memory:", settings=incumbent.Settings(max_signal_bytes=10)) as memory:
            memory.environment.provide("short", lambda: "12345678")
            memory.environment.provide("long", lambda: "123456789")
            seen = memory.session(user_id="alice").environment
        assert dict(seen.external_data) == {"short": "12345678"}
        assert "more than 10 bytes" in seen.unavailable["long"]

    @settings(deadline=None)  # threads start when the machine lets them
    @given(
        value=st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=12,
        ),
        limit=st.integers(1, 120),
    )
    def test_the_limit_is_exact(self, value: Any, limit: int) -> None:
        """What is refused for its size is bigger than the limit, and nothing else is."""
        made = Providers("UTC", limit, PATIENCE)
        made.provide("feed", lambda: value)
        seen = made.read(NOW)
        try:
            size = len(canonical(value, limit=sys.maxsize).encode())
        except incumbent.InvalidInput:
            assert "feed" in seen.unavailable
            return
        assert ("feed" in seen.external_data) == (size <= limit)
        if size <= limit:
            assert seen.external_data["feed"] == value


class TestExpiry:
    """A signal with a time of its own."""

    @pytest.mark.parametrize(
        ("expires_at", "usable"),
        [
            (None, True),
            (NOW + timedelta(microseconds=1), True),
            (NOW, False),
            (NOW - timedelta(days=1), False),
            (NOW.astimezone(timezone(timedelta(hours=9))) + timedelta(minutes=1), True),
        ],
    )
    def test_it_holds_until_it_expires(self, expires_at: datetime | None, usable: bool) -> None:
        """By the clock of the memory, in any zone, and not at the very moment of its expiry."""
        seen = providers(quote=lambda: Signal(17, expires_at)).read(NOW)
        assert (seen.external_data.get("quote") == 17) is usable
        assert ("quote" in seen.unavailable) is not usable

    def test_the_reason_says_since_when(self) -> None:
        """And does not repeat the value."""
        told = reason(Signal("secret", NOW - timedelta(hours=1)))
        assert told == "expired at 2026-01-05T08:00:00+00:00"

    @pytest.mark.parametrize("expires_at", [NOW.replace(tzinfo=None), "tomorrow", 17])
    def test_an_expiry_that_is_no_moment_is_refused(self, expires_at: Any) -> None:
        """Whether such a signal still holds cannot be known."""
        assert "expires_at" in reason(Signal(1, expires_at))


class TestHanging:
    """A provider that does not answer."""

    def test_the_rest_is_read(self, hanging: Hanging) -> None:
        """A reading ends at its timeout with everything that came in before."""
        made = providers(timeout=AMPLE, feed=hanging, stock=lambda: 3, zebra=lambda: 4)
        seen = made.read(NOW)
        assert seen.unavailable == {"feed": "did not answer within 5 s"}
        assert dict(seen.external_data) == {"stock": 3, "zebra": 4}

    def test_one_timeout_is_shared_by_all(self, hanging: Hanging) -> None:
        """Providers are waited for together: all of them are under way before the first answers."""
        together = threading.Barrier(5)

        def meeting() -> int:
            return together.wait(timeout=PATIENCE)

        names = ["a", "b", "c", "d", "e"]
        seen = providers(PATIENCE, **dict.fromkeys(names, meeting)).read(NOW)
        assert sorted(seen.external_data.values()) == [0, 1, 2, 3, 4]
        silent = providers(HASTY, **dict.fromkeys(names, hanging)).read(NOW)
        assert list(silent.unavailable) == names
        until(lambda: hanging.calls == 5)

    def test_it_is_not_started_again(self, hanging: Hanging) -> None:
        """However many contexts are built, one hanging provider holds one thread."""
        made = providers(timeout=HASTY, feed=hanging)
        made.read(NOW)
        for _ in range(20):
            assert made.read(NOW).unavailable == {"feed": "still has not answered"}
        until(lambda: threads_of_providers() == 1)
        assert hanging.calls == 1

    def test_a_late_answer_is_not_used(self, hanging: Hanging) -> None:
        """Once it has answered at last it is asked afresh."""
        made = providers(timeout=AMPLE, feed=hanging)
        made.read(NOW)
        hanging.released.set()
        until(lambda: threads_of_providers() == 0)
        made.provide("stock", lambda: 3)
        assert dict(made.read(NOW).external_data) == {"feed": "answer 2", "stock": 3}

    def test_another_provider_may_take_its_place(self, hanging: Hanging) -> None:
        """What is provided under the name anew is not held to account for the one before."""
        made = providers(timeout=HASTY, feed=hanging)
        made.read(NOW)
        made.withdraw("feed")
        assert made.read(NOW).unavailable == {}
        made = providers(timeout=AMPLE, feed=hanging)
        made.read(NOW)
        made.provide("feed", lambda: "replaced")
        assert dict(made.read(NOW).external_data) == {"feed": "replaced"}

    def test_the_timeout_is_a_setting(self, hanging: Hanging) -> None:
        """The context is built without the provider, and says so."""
        with incumbent.open(
            ":memory:", settings=incumbent.Settings(provider_timeout=HASTY)
        ) as memory:
            memory.environment.provide("feed", hanging)
            alice = memory.session(user_id="alice")
            assert "feed: not available right now" in alice.context("?").text
            assert alice.environment.unavailable == {"feed": "still has not answered"}

    def test_a_hanging_check_is_no_hang_either(self, hanging: Hanging) -> None:
        """What a returned object or an error does when looked at counts as the provider's time."""

        class Slow(Exception):
            def __str__(self) -> str:
                return hanging()

        def broken() -> object:
            raise Slow

        seen = providers(timeout=HASTY, feed=broken).read(NOW)
        assert seen.unavailable == {"feed": "did not answer within 0.05 s"}

    def test_a_provider_that_reads_the_environment_is_not_asked_by_itself(self) -> None:
        """The reading inside a provider asks the others, and ends."""
        inside: list[Environment] = []

        def echo() -> str:
            inside.append(made.read(NOW))
            return "done"

        made = providers(stock=lambda: 3, echo=echo)
        seen = made.read(NOW)
        assert dict(seen.external_data) == {"echo": "done", "stock": 3}
        assert dict(inside[0].external_data) == {"stock": 3}
        assert list(inside[0].unavailable) == ["echo"]

    def test_providers_that_read_each_other_come_to_an_end(self) -> None:
        """Nobody is asked by those who wait for him."""
        made = providers()
        made.provide("left", lambda: made.read(NOW).external_data.get("right", "nobody"))
        made.provide("right", lambda: made.read(NOW).external_data.get("left", "nobody"))
        assert dict(made.read(NOW).external_data) == {"left": "nobody", "right": "nobody"}


def run(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program with these sources in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


class TestProcess:
    """What providers do to the process they are in."""

    def test_a_hanging_provider_does_not_keep_a_program_from_ending(self) -> None:
        """The interpreter does not wait for it."""
        done = run(
            """
            import threading, incumbent
            memory = incumbent.open(":memory:", settings=incumbent.Settings(provider_timeout=0.05))
            memory.environment.provide("feed", threading.Event().wait)
            print(dict(memory.session(user_id="alice").environment.unavailable))
            """
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "{'feed': 'did not answer within 0.05 s'}\n"

    def test_an_exit_in_a_provider_prints_and_ends_nothing(self) -> None:
        """The program goes on, and nothing appears on its streams."""
        done = run(
            """
            import sys, incumbent
            memory = incumbent.open(":memory:")
            memory.environment.provide("feed", lambda: sys.exit("bye"))
            print(dict(memory.session(user_id="alice").environment.unavailable))
            """
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "{'feed': 'SystemExit: bye'}\n"

    def test_a_reading_while_the_interpreter_ends_is_a_reading(self) -> None:
        """Where no thread can be had any more, the signal is unavailable and nothing breaks."""
        done = run(
            """
            import atexit, incumbent
            memory = incumbent.open(":memory:")
            memory.environment.provide("feed", lambda: 1)
            alice = memory.session(user_id="alice")
            def last():
                seen = alice.environment
                print(dict(seen.external_data) == {"feed": 1} or list(seen.unavailable) == ["feed"])
            atexit.register(last)
            """
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
    def test_a_forked_process_asks_for_itself(self) -> None:
        """A call that hangs in the parent is not under way in the child."""
        done = run(
            """
            import os, threading, warnings, incumbent
            warnings.simplefilter("ignore")
            parent, hang = os.getpid(), threading.Event()
            memory = incumbent.open(":memory:", settings=incumbent.Settings(provider_timeout=5.0))
            memory.environment.provide(
                "feed", lambda: hang.wait() if os.getpid() == parent else "child"
            )
            alice = memory.session(user_id="alice")
            alice.environment
            print(alice.environment.unavailable["feed"], flush=True)
            if os.fork() == 0:
                print(dict(alice.environment.external_data), flush=True)
                os._exit(0)
            os.wait()
            """
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "still has not answered\n{'feed': 'child'}\n"

    def test_where_no_thread_can_be_started_the_signal_is_unavailable(self) -> None:
        """A machine at its limits costs the signals, not the context."""
        done = run(
            """
            import threading, incumbent
            memory = incumbent.open(":memory:")
            memory.environment.provide("feed", lambda: 1)
            alice = memory.session(user_id="alice")
            threading.stack_size(1 << 46)  # no machine has room for such a thread
            print(alice.environment.unavailable["feed"])
            threading.stack_size(0)
            print(dict(alice.environment.external_data))
            """
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("could not be asked: RuntimeError")
        assert done.stdout.endswith("\n{'feed': 1}\n")

    def test_without_providers_no_thread_is_started(self) -> None:
        """A reading of the clock alone stays where it is."""
        started: list[int] = []
        threading.setprofile(lambda *_: started.append(threading.get_ident()))
        try:
            providers().read(NOW)
            assert started == []
            providers(stock=lambda: 3).read(NOW)
            until(lambda: started != [])
        finally:
            threading.setprofile(None)


class TestReadings:
    """What one reading is to another."""

    def test_concurrent_readings_do_not_mix(self) -> None:
        """Each gets the answers to its own questions, in the context of whoever asks."""
        asker: ContextVar[int] = ContextVar("asker")

        def quick() -> int:
            return asker.get()

        def slow() -> int:
            time.sleep(asker.get() % 3 / 1000)
            return asker.get()

        made = providers(quick=quick, slow=slow)

        def ask(number: int) -> bool:
            asker.set(number)
            return dict(made.read(NOW).external_data) == {"quick": number, "slow": number}

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(ask, range(200)))

    def test_registering_while_others_read_disturbs_nobody(self) -> None:
        """Every reading is whole while providers come and go."""
        made = providers(stock=lambda: 3)
        over = threading.Event()

        def come_and_go() -> None:
            while not over.is_set():
                made.provide("passing", lambda: 4)
                made.withdraw("passing")

        other = threading.Thread(target=come_and_go)
        other.start()
        try:
            for _ in range(100):
                seen = made.read(NOW)
                assert dict(seen.external_data) in ({"stock": 3}, {"stock": 3, "passing": 4})
                assert seen.unavailable == {}
        finally:
            over.set()
            other.join()

    def test_a_busy_provider_is_asked_by_every_reading(self) -> None:
        """That a call of another reading is under way is no reason to leave the provider out."""
        both = threading.Barrier(2)
        made = providers(feed=lambda: both.wait(timeout=PATIENCE))
        with ThreadPoolExecutor(2) as pool:
            seen = list(pool.map(made.read, [NOW, NOW]))
        assert sorted(one.external_data["feed"] for one in seen) == [0, 1]

    def test_the_order_is_by_name(self) -> None:
        """Whatever came first, so that the same signals read the same."""

        def broken() -> object:
            raise OSError

        made = providers(
            zone=lambda: time.sleep(0.01), timezone=lambda: "Mars/Olympus", area=lambda: 1
        )
        for name in ("yield", "beta", "wind"):
            made.provide(name, broken)
        seen = made.read(NOW)
        assert list(seen.external_data) == ["area", "zone"]
        assert list(seen.unavailable) == ["beta", "timezone", "wind", "yield"]

    def test_a_reading_does_not_change_afterwards(self) -> None:
        """A provider that goes on using its list does not reach into what was read."""
        shared = {"levels": [1, 2]}
        made = providers(stock=lambda: shared)
        first = made.read(NOW)
        shared["levels"].append(3)
        assert dict(first.external_data) == {"stock": {"levels": [1, 2]}}
        assert dict(made.read(NOW).external_data) == {"stock": {"levels": [1, 2, 3]}}

    def test_a_reading_leaves_nothing_behind(self) -> None:
        """What was asked with, and what was answered, is let go of when it is over."""

        class Request:
            pass

        request: ContextVar[Request | None] = ContextVar("request")
        made = providers(feed=lambda: [repr(request.get())])
        request.set(Request())
        asked_with = weakref.ref(request.get())
        made.read(NOW)
        request.set(None)
        until(lambda: gc.collect() >= 0 and asked_with() is None)

    @pytest.mark.parametrize("value", [None, True, 0, -1.5, "", "Zoë", [], {}, [None, {"a": []}]])
    def test_every_json_value_comes_through(self, value: Any) -> None:
        """As it is, with its type."""
        [found] = providers(feed=lambda: value).read(NOW).external_data.values()
        assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("given_settings", "match"),
    [
        ({"provider_timeout": 0}, "provider_timeout.*not 0$"),
        ({"provider_timeout": -1.5}, "provider_timeout.*-1.5"),
        ({"provider_timeout": math.inf}, "provider_timeout.*3600.*inf"),
        ({"provider_timeout": math.nan}, "provider_timeout.*nan"),
        ({"max_signal_bytes": 0}, "max_signal_bytes.*0"),
        ({"max_signal_bytes": -5}, "max_signal_bytes.*-5"),
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused(given_settings: dict[str, Any], match: str) -> None:
    """No setting lets a reading wait for ever."""
    with pytest.raises(incumbent.InvalidInput, match=match):
        incumbent.Settings(**given_settings)
