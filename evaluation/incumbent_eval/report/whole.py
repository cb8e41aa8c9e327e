"""Everything, one part after the other: written down as it goes, and resumed after a stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from incumbent.model.errors import InvalidInput
from incumbent_eval import adapters
from incumbent_eval.report import machine
from incumbent_eval.report.document import Document, Section
from incumbent_eval.report.parts import PARTS, LeftOut, Part, Plan
from incumbent_eval.systems import Progress

Item = TypeVar("Item")
_OF_THE_MACHINE = "workers"
"""The setting that changes no figure, so that a run may be resumed with another value."""


@dataclass(frozen=True)
class ReportStep:
    """A part that begins."""

    name: str
    number: int
    of: int
    seconds: float
    """Seconds that the parts before it took, in this run and the one that it resumes."""


def _nothing(what: Any) -> None:
    """A listener that does nothing."""


def run(
    plan: Plan,
    *,
    date: str,
    say: Callable[[LeftOut], None] = _nothing,
    begin: Callable[[ReportStep], None] = _nothing,
    save: Callable[[Document], None] = _nothing,
    before: Document | None = None,
) -> Document:
    """Run everything that is there; missing parts are left out and named, as it goes and in the
    document.

    `begin` is called with every part when it begins, and `save` gets the document so far when it
    ends. With `before`, a document of the same run that was stopped, the parts in it are not run
    again.
    """
    chosen = plan.chosen
    document = _fresh(plan, date, chosen) if before is None else _gone_on(before, plan, date)
    document = _with(document, "", _absent(plan), plan, say)
    for number, name in enumerate(chosen, start=1):
        if name in document.done:
            continue
        begin(ReportStep(name, number, len(chosen), document.seconds or 0.0))
        counting = replace(plan, progress=_numbered(plan.progress, number, len(chosen)))
        document = _with(document, name, PARTS[name](counting), plan, say)
        save(document)
    return document


def _fresh(plan: Plan, date: str, chosen: list[str]) -> Document:
    return Document(
        date=date,
        versions=machine.versions(),
        machine=machine.machine(),
        settings=plan.told(),
        targets=[],
        left_out=[],
        sections=[],
        seconds=0.0,
        unfinished=chosen,
    )


def _with(
    document: Document,
    name: str,
    parts: Iterator[Part],
    plan: Plan,
    say: Callable[[LeftOut], None],
) -> Document:
    """The document with one part more."""
    made: list[Section] = []
    reached: list[Mapping[str, Any]] = []
    left_out: list[Mapping[str, str]] = []
    start = latest = monotonic()
    for part in parts:
        if isinstance(part, LeftOut):
            gap = _unplaced(part, plan.folder)
            left_out.append({"what": gap.what, "why": gap.why, "part": name})
            say(gap)
            continue
        section, held = part
        now = monotonic()
        made.append(replace(section, part=name, seconds=round(now - latest, 1)))
        latest = now
        reached += [{**target.record(), "part": name} for target in held]
    return replace(
        document,
        sections=_in_order([*document.sections, *made], lambda one: one.part),
        targets=_in_order([*document.targets, *reached], lambda one: one["part"]),
        left_out=_in_order([*document.left_out, *left_out], lambda one: one["part"]),
        seconds=round((document.seconds or 0.0) + monotonic() - start, 1),
        done=[*document.done, *([name] if name else [])],
        unfinished=[one for one in document.unfinished if one != name],
    )


def _in_order(items: Iterable[Item], part_of: Callable[[Item], str]) -> list[Item]:
    """In the order of the parts, whenever each of them was run."""
    places = {name: place for place, name in enumerate(PARTS)}
    return sorted(items, key=lambda item: places.get(part_of(item), -1))


def _absent(plan: Plan) -> Iterator[Part]:
    for name in plan.systems:
        why = adapters.missing(name)
        if why is not None:
            yield LeftOut(name, why)


def _unplaced(gap: LeftOut, folder: Path | None) -> LeftOut:
    """A gap without the path of somebody's machine: a report goes to others."""
    return gap if folder is None else replace(gap, why=gap.why.replace(str(folder), "DATA"))


def _numbered(progress: Progress | None, number: int, of: int) -> Progress | None:
    if progress is None:
        return None

    def told(what: str, done: int, total: int | None) -> None:
        progress(f"{number}/{of} {what}", done, total)

    return told


def _gone_on(before: Document, plan: Plan, date: str) -> Document:
    """The document of a run that was stopped. Its settings and versions must still be the same."""
    for what, then, now in (
        ("setting", before.settings, plan.told()),
        ("version", before.versions, machine.versions()),
    ):
        for name in sorted({*then, *now} - {_OF_THE_MACHINE}):
            if then.get(name) != now.get(name):
                raise InvalidInput(
                    f"the run to go on with has another {what} of {name} ({then.get(name)}, now "
                    f"{now.get(name)}); give what it was begun with, or begin anew without --resume"
                )
    # A part that found nothing to do may find it now: somebody brought the data or the package.
    sound = {section.part for section in before.sections}
    done = [name for name in before.done if name in sound]
    return replace(
        before,
        date=date,
        sections=[section for section in before.sections if section.part in done],
        targets=[target for target in before.targets if target.get("part") in done],
        left_out=[gap for gap in before.left_out if gap.get("part") in done],
        done=done,
        unfinished=[name for name in plan.chosen if name not in done],
    )
