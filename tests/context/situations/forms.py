"""The forms that a context takes: scopes, branches, history, budgets, profiles, the unknown."""

from __future__ import annotations

from incumbent import Memory, Session
from incumbent.testing import SteppingClock
from tests.context.situations.scene import Scene


def _yuki(memory: Memory, **more: str) -> Session:
    return memory.session(
        user_id="yuki",
        user_name="Yuki Tanaka",
        authority="manager",
        organization="harbor",
        **{"session_id": "desk", **more},
    )


def task_overrides_preference(memory: Memory, clock: SteppingClock) -> list[Scene]:
    """A preference that holds everywhere but in one task."""
    yuki = _yuki(memory)
    yuki.write("report_language", "English", id="f-language")
    yuki.write("report_format", "two pages, charts first", id="f-format")
    there = _yuki(memory, task_id="tokyo-branch")
    there.write("report_language", "Japanese", scope="task", id="f-language-task")
    clock.advance(minutes=1)
    query = "In which language and format do I write the report?"
    return [
        Scene("task-inside", there.context(query), says=("Japanese", "charts"), dead=("English",)),
        Scene("task-outside", yuki.context(query), says=("English", "charts"), dead=("Japanese",)),
    ]


def what_if(memory: Memory, clock: SteppingClock) -> list[Scene]:
    """A branch in which another headcount is tried out; the real state does not move."""
    yuki = _yuki(memory)
    yuki.write("headcount", 12, id="f-headcount")
    yuki.write("office_lease", "Pier 4, 14 desks, until 2027-06", id="f-lease")
    yuki.write("payroll", "EUR 84,000 a month", depends_on=["f-headcount"], id="f-payroll")
    clock.advance(minutes=1)
    branch = yuki.hypothetical("grow")
    branch.write("headcount", 20, id="f-headcount-20")
    query = "What would payroll and headcount be, and do we have enough desks?"
    return [
        Scene(
            "what-if-inside",
            branch.context(query),
            says=("headcount: 20", "Pier 4", "recalculate"),
            dead=("84,000", "headcount: 12"),
        ),
        Scene(
            "what-if-outside",
            yuki.context(query),
            says=("headcount: 12", "EUR 84,000 a month"),
            dead=("headcount: 20", "recalculate"),
        ),
    ]


def several_values(memory: Memory, clock: SteppingClock) -> list[Scene]:
    """A key that holds several values at once, of which one is taken back."""
    memory.declare("customer.*", multi_valued=True)
    yuki = _yuki(memory)
    for number, name in enumerate(("Kaiyo Shipping", "Nordsee Fisch", "Delta Ports"), start=1):
        yuki.write("customer.active", name, id=f"f-customer-{number}")
        clock.advance(minutes=1)
    yuki.retract("f-customer-2", "contract ended")
    yuki.note("turn_1", "Call Kaiyo Shipping and Nordsee Fisch about the new berth prices today.")
    return [
        Scene(
            "several-values",
            yuki.context("Who are our active customers?"),
            says=("Kaiyo Shipping", "Delta Ports"),
            dead=("Nordsee",),
        )
    ]


def package_managers(memory: Memory, clock: SteppingClock) -> list[Scene]:
    """Three package managers in a row: the present one by default, all of them for the asking."""
    yuki = _yuki(memory)
    for number, name in enumerate(("npm", "yarn 1", "pnpm"), start=1):
        yuki.write("package_manager", name, id=f"f-package-{number}")
        clock.advance(days=200)
    yuki.write("test_runner", "vitest", id="f-runner-2")
    yuki.note("turn_1", "CI used yarn 1 until last week, the cache key still says so.")
    query = "Which package managers have we ever used?"
    return [
        Scene("history-off", yuki.context(query), says=("pnpm",), dead=("yarn", ": npm")),
        Scene(
            "history-on",
            yuki.context(query, history=True),
            says=("package_manager: pnpm", "package_manager: npm", "package_manager: yarn 1"),
            dead=("used yarn",),
        ),
    ]


def nothing_relevant(memory: Memory, clock: SteppingClock) -> list[Scene]:
    """Questions that the memory cannot answer: it says so, rather than leave them to invention."""
    yuki = _yuki(memory)
    scenes = [Scene("unknown-empty", yuki.context("What is the wifi password?"))]
    yuki.write("coffee_preference", "flat white, oat milk", id="f-coffee")
    yuki.write("parking_spot", "B2-17", id="f-parking")
    clock.advance(minutes=1)
    scenes.append(
        Scene(
            "unknown-question",
            yuki.context("What was our revenue in the third quarter?"),
            says=("nothing on record matches this question",),
        )
    )
    return scenes


def _busy_desk(memory: Memory, clock: SteppingClock) -> Session:
    """A memory with a bit of everything, for looking at it in several ways."""
    memory.declare("berth_occupancy", time_sensitive=True)
    yuki = _yuki(memory)
    yuki.write(
        "crane_safety_policy",
        "No lifting above 55 km/h wind. The shift lead must stop the crane.",
        source="policy",
        id="f-crane",
    )
    yuki.write("overtime_budget", "120 hours in January", id="f-overtime")
    yuki.write("berth_occupancy", "7 of 9", id="f-berths")
    yuki.write("crane_operator", "Jonas Ek", id="f-operator-1")
    yuki.write(
        "shift_plan", "Jonas Ek early, Mia Falk late", depends_on=["f-operator-1"], id="f-plan"
    )
    yuki.write(
        "pattern.fog", "Fog before 09:00 usually lifts by 11:00.", source="pattern", id="f-fog"
    )
    yuki.write("harbor_radio", "channel 12", source="handbook", id="f-radio")
    yuki.write("canteen_menu", "fish on Fridays", id="f-canteen")
    yuki.note("turn_1", "Jonas Ek called in, he starts a new job next week.")
    clock.advance(hours=5)
    yuki.write("crane_operator", "Mia Falk", id="f-operator-2")
    yuki.note("objective", "Unload the Kaiyo before the wind picks up")
    memory.environment.provide("wind", lambda: "48 km/h, gusts 60")
    return yuki


_CRANE = "Who operates the crane today, and may we lift in this wind?"


def small_budgets(memory: Memory, clock: SteppingClock) -> list[Scene]:
    """The same question for less and less."""
    yuki = _busy_desk(memory, clock)
    return [
        Scene(f"budget-{budget:03}", yuki.context(_CRANE, budget=budget), dead=("Jonas",))
        for budget in (0, 20, 60, 90, 150)
    ]


def profiles(memory: Memory, clock: SteppingClock) -> list[Scene]:
    """The same question in every profile, and with all the notes there are."""
    yuki = _busy_desk(memory, clock)
    dead = ("Jonas",)
    return [
        Scene("profile-high-stakes", yuki.context(_CRANE, profile="high-stakes"), dead=dead),
        Scene("profile-balanced", yuki.context(_CRANE), says=("Mia Falk", "48 km/h"), dead=dead),
        Scene(
            "profile-comprehensive",
            yuki.context(_CRANE, profile="comprehensive", style="annotated", history=True),
            says=('early, Mia Falk late", not to be relied on',),
        ),
    ]


def possibly_outdated(memory: Memory, clock: SteppingClock) -> list[Scene]:
    """Statements that later ones may have replaced, and a rule that binds all the same."""
    yuki = _yuki(memory)
    yuki.write("commute", "by bike from Elm Street", id="f-commute")
    yuki.write("rent", "EUR 1,450", id="f-rent")
    yuki.write("parcels", "to the neighbours", is_constraint=True, id="f-parcels")
    clock.advance(days=47)
    keys = "the keys for Harbor Road, since yesterday"
    yuki.write("keys", keys, doubts=["f-commute", "f-rent", "f-parcels"], id="f-keys")
    clock.advance(minutes=1)
    query = "Where do I commute from, and what is the rent?"
    since = "(in doubt since 2026-02-21: keys:"
    return [
        Scene(
            "outdated-balanced",
            yuki.context(query),
            says=(
                "# Possibly outdated",
                "EUR 1,450 (in doubt",
                "to the neighbours (in doubt",
                since,
            ),
        ),
        Scene(
            "outdated-high-stakes",
            yuki.context(query, profile="high-stakes"),
            says=("to the neighbours (in doubt", "Harbor Road"),
            dead=("1,450", "Elm Street", "# Possibly outdated"),
        ),
    ]
