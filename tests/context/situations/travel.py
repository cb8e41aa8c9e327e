"""A travel assistant: a changed flight, a hold that ran out, and readings that age."""

from __future__ import annotations

from datetime import timedelta

from incumbent import Memory, Signal
from incumbent.testing import SteppingClock
from tests.context.situations.scene import Scene, feed


def trip(memory: Memory, clock: SteppingClock) -> list[Scene]:
    """A trip to Lisbon that changes under way."""
    memory.declare("weather.*", time_sensitive=True)
    nadia = memory.session(
        user_id="nadia",
        user_name="Nadia Haddad",
        authority="employee",
        organization="acme",
        task_id="lisbon-trip",
        session_id="planning",
    )
    nadia.write("seat_preference", "aisle, near the front", id="f-seat")
    nadia.write("passport_number", "X1234567", id="f-passport")
    feed(memory, nadia).write(
        "travel_policy",
        "Hotels at most EUR 180 a night; economy class under 6 hours.",
        source="policy",
        id="f-policy",
    )
    nadia.write("outbound_flight", "TP 553, 09:40 from ZRH", id="f-flight-1")
    nadia.write(
        "airport_pickup",
        "driver at LIS at 11:35",
        depends_on=["f-flight-1"],
        id="f-pickup",
    )
    nadia.write(
        "hotel_hold",
        "Hotel Avenida, room held at EUR 165",
        valid_until=clock.now + timedelta(hours=48),
        id="f-hold",
    )
    nadia.write("weather.lisbon", "sunny, 17 °C", id="f-weather-1")
    week = timedelta(days=7)
    nadia.note("turn_1", "Flight TP 553 at 09:40, then straight to Hotel Avenida.", ttl=week)
    nadia.note("turn_2", "The driver at LIS at 11:35 is booked, it will be sunny, 17 °C.", ttl=week)
    memory.environment.provide("timezone", lambda: "Europe/Zurich")
    held = Scene(
        "travel-annotated",
        nadia.context("Until when is my hotel hold?", style="annotated"),
        says=("valid until 2026-01-07 09:00 UTC",),
    )
    clock.advance(days=1)
    nadia.write("weather.lisbon", "rain, 12 °C", id="f-weather-2")
    clock.advance(days=1, hours=2)
    nadia.write("outbound_flight", "LX 2086, 12:10 from ZRH", id="f-flight-2")
    nadia.note("objective", "Get to the Lisbon customer meeting by 16:00")
    expires = clock.now + timedelta(minutes=10)
    memory.environment.provide("location", lambda: "Zurich, home office")
    memory.environment.provide("eur_chf", lambda: Signal(0.9312, expires_at=expires))

    def gate_feed() -> object:
        raise ConnectionError("no route to gates.example")

    memory.environment.provide("gate_feed", gate_feed)
    dead = ("TP 553", "09:40", "Avenida", "11:35", "17 °C", "sunny", "gates.example")
    scenes = [
        held,
        Scene(
            "travel",
            nadia.context("When do I fly, is my hotel hold fine, how is the weather in Lisbon?"),
            says=("LX 2086, 12:10 from ZRH", "rain, 12 °C", "at most EUR 180", "0.9312"),
            dead=dead,
        ),
    ]
    clock.advance(minutes=30)
    scenes.append(
        Scene(
            "travel-comprehensive",
            nadia.context("When is my airport pickup?", profile="comprehensive"),
            says=("LX 2086, 12:10 from ZRH", "not to be relied on"),
            dead=("TP 553", "09:40", "Avenida", "17 °C", "0.9312", "11:35 is booked"),
        )
    )
    return scenes
