"""A ward: an allergy taken back, facts for few eyes, a dose that rests on a weight."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from incumbent import Memory
from incumbent.testing import SteppingClock
from tests.context.situations.scene import Scene, feed


def ward(memory: Memory, clock: SteppingClock) -> list[Scene]:
    """One patient, seen by her physician and by the reception."""
    physician = memory.session(
        user_id="dr-weiss",
        user_name="Dr. Lena Weiss",
        authority="manager",
        organization="st-anna",
        department="internal medicine",
        permissions=["clinical", "psychiatric"],
        session_id="round",
    )
    reception = memory.session(
        user_id="tom",
        user_name="Tom Becker",
        authority="staff",
        organization="st-anna",
        department="reception",
    )
    patient = "Erika Mustermann"
    shared: dict[str, Any] = {"memory_type": "organizational", "subject": patient}
    clinical: dict[str, Any] = {**shared, "requires": ["clinical"]}
    calendar = feed(memory, reception)
    calendar.write("appointment", "2026-01-09 10:30, room 4", **shared, id="f-appointment")
    calendar.write("insurance", "AOK Plus, number A123456780", **shared, id="f-insurance")
    physician.write("allergy", "penicillin", **clinical, id="f-allergy")
    physician.write("weight", "82 kg", **clinical, id="f-weight-1")
    physician.write(
        "enoxaparin_dose",
        "80 mg subcutaneous, every 12 hours",
        **clinical,
        depends_on=["f-weight-1"],
        id="f-dose",
    )
    physician.write(
        "dosage_rule",
        "Enoxaparin must be dosed at 1 mg per kg of body weight, never from an old weight.",
        source="policy",
        requires=["clinical"],
        id="f-dosage-rule",
    )
    physician.write(
        "psychiatric_history",
        "depressive episode, 2019",
        **shared,
        requires=["psychiatric"],
        id="f-psychiatric",
    )
    physician.note(
        "turn_1",
        "She weighs 82 kg, so 80 mg every 12 hours; allergic to penicillin.",
        ttl=timedelta(days=7),
    )
    clock.advance(days=3)
    physician.retract("allergy", "skin test negative", subject=patient)
    physician.write("weight", "74 kg", **clinical, id="f-weight-2")
    query = f"What dose of enoxaparin does {patient} get, and does she have an allergy?"
    clinical_words = ("82 kg", "80 mg", "penicillin")
    hidden = (*clinical_words, "74 kg", "depressive", "psychiatric", "enoxaparin", "allergy")
    return [
        Scene(
            "medical-physician",
            physician.context(query),
            says=("74 kg", "1 mg per kg", "recalculate", "taken back"),
            dead=clinical_words,
        ),
        Scene(
            "medical-physician-high-stakes",
            physician.context(query, profile="high-stakes"),
            says=("74 kg", "1 mg per kg"),
            dead=clinical_words,
        ),
        Scene(
            "medical-reception",
            reception.context(query),
            says=("2026-01-09 10:30, room 4",),
            dead=hidden,
        ),
    ]
