"""The dialogues of `cases`, played into the systems beside us: the same turns, the same questions.

Only the joint figure can be measured for them: the protocol does not tell the findings on the way.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path

from incumbent_eval import adapters
from incumbent_eval.cases import BASE, BUDGET, Dialogue, read_dialogues, scored
from incumbent_eval.figures import Joint
from incumbent_eval.running import each
from incumbent_eval.systems import Progress, Refused, Who

_PERSON = Who("person", session="dialogue")


def run(
    path: Path,
    name: str,
    *,
    limit: int | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> Joint:
    """Run a file of cases on one system."""
    dialogues = read_dialogues(path, limit)
    what = f"{path.name}, {name}"
    found = each(partial(play, name=name), dialogues, what=what, workers=workers, progress=progress)
    return sum(found, Joint())


def play(dialogue: Dialogue, name: str) -> Joint:
    """Feed a dialogue to a fresh system, turn by turn, and ask its queries."""
    system = adapters.makers()[name]()
    try:
        now = BASE
        for event in dialogue.events:
            now = max(now, BASE + timedelta(minutes=event.minutes))
            system.move_to(now)
            try:
                system.observe(_PERSON, event.text, event.speaker)
            except Refused:  # nothing was taken in, which the figure then shows
                continue
        system.move_to(now + timedelta(minutes=1))
        asked = (
            scored(case, system.context(_PERSON, case.query, BUDGET)) for case in dialogue.cases
        )
        return sum(asked, Joint())
    finally:
        system.close()
