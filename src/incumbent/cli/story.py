"""The story that `incumbent demo` tells: an order for forty desks, as calls that really run."""

from __future__ import annotations

from typing import NamedTuple


class StoryStep(NamedTuple):
    """One turn of the story: its events, and the calls that bring them about.

    `wait` is the number of hours that pass before it. Each call is one line of Python.
    """

    title: str
    calls: tuple[str, ...]
    wait: int = 1


OPENING = (
    "Forty desks are on order. Ann buys them, Carla is the CFO, and their agent must never act on",
    "what is no longer so. Each line after >>> runs now, on a real SQLite file, and is answered.",
)

STEPS = (
    StoryStep(
        "Text goes in. A correction changes one value; the rest of what was said stands.",
        (
            "memory = incumbent.open(file, clock=clock)",
            'ann = memory.session(user_id="ann", user_name="Ann", organization="acme")',
            'ann.observe("We need 50 desks by Friday. The shipping address is 1 Main St.")',
            'ann.observe("So 50 desks go to 1 Main St by Friday?", speaker="assistant")',
            'ann.observe("No, only 40 desks.")',
            '"50" in ann.context("How many desks?").text  # not even through the transcript',
        ),
        wait=0,
    ),
    StoryStep(
        "Facts can also be written. Saying one again adds nothing: repetition is not evidence.",
        (
            'ann.write("unit_price", 310)',
            'ann.write("total", 12_400, depends_on=["unit_price"])',
            'ann.write("unit_price", 310)',
        ),
    ),
    StoryStep(
        "A new value retires the old one. Repair: what rested on it needs review.",
        (
            'price = ann.write("unit_price", 290)',
            "ann.resolve(ann.reviews()[0].fact.id, 11_600)",
        ),
    ),
    StoryStep(
        "The CFO sets a limit. A lower word against it is kept, and never believed.",
        (
            'carla = memory.session(user_id="carla", authority="CFO", organization="acme")',
            'carla.write("max_discount", "15%", source="policy", constraint_type="policy")',
            'ann.write("max_discount", "25%")',
        ),
    ),
    StoryStep(
        "One task may differ from the rest without changing it.",
        (
            'rush = memory.session(user_id="ann", organization="acme", task_id="rush order")',
            'rush.write("shipping_address", "Dock 4", scope="task")',
            'rush.current("shipping_address"), ann.current("shipping_address")',
        ),
    ),
    StoryStep(
        "A contingent fact waits for another to leave, and then takes office.",
        (
            'ann.write("team_lead", "Priya")',
            'ann.write("report_to", "James", when_superseded="team_lead")',
            'change = ann.write("team_lead", "Omar")',
        ),
        wait=18,
    ),
    StoryStep(
        "A mistake. Undo takes back the decision and all that followed from it.",
        ("ann.undo(change)",),
    ),
    StoryStep(
        "Weak evidence retires nothing: a person decides.",
        (
            'ann.write("supplier", "Norde")',
            'guess = ann.write("supplier", "Norse", confidence=0.4)',
            "ann.resolve(guess.fact_id, retract=True)",
        ),
    ),
    StoryStep(
        "What if? A branch keeps its facts to itself until it is committed.",
        (
            'plan = ann.hypothetical("plan B")',
            'plan.write("supplier", "Kavli")',
            'plan.current("supplier"), ann.current("supplier")',
            "plan.commit()",
        ),
    ),
    StoryStep(
        "We learn today that the price has been 280 since Tuesday noon.",
        (
            "tuesday = datetime(2026, 3, 3, 12, tzinfo=UTC)",
            'ann.write("unit_price", 280, valid_from=tuesday)',
            'ann.as_of(tuesday).current("unit_price")  # what was true on Tuesday',
            'ann.as_of(tuesday, known_at=tuesday).current("unit_price")  # what we knew on Tuesday',
        ),
        wait=22,
    ),
    StoryStep(
        "A customer asks to be forgotten. The content goes; a proof stays.",
        (
            'ann.write("phone", "+47 555 0199", subject="Jane Doe")',
            'on_disk("555 0199")',
            'memory.forget(organization="acme", subject="Jane Doe")',
            'on_disk("555 0199")',
        ),
    ),
    StoryStep(
        "What a model reads: limits first, the best matches next, no dead value by any road.",
        (
            'ann.note("turn_1", "At 290 each, 11,600 in all. Lunch at noon?", states=[price])',
            'asked = "What unit price do we pay, and what discount may we give?"',
            "context = ann.context(asked, budget=400, record=True)",
            "sorted(context.lines, key=lambda line: -(line.score or 0))[:4]  # what counted",
        ),
    ),
    StoryStep(
        "A day on: what was the model told, byte for byte, and what has changed since?",
        (
            'ann.write("unit_price", 270)',
            'memory.replay(context.receipt.id, organization="acme").text == context.text',
            "memory.compare(context.receipt, ann.context(asked, budget=400).receipt)",
        ),
        wait=20,
    ),
)
