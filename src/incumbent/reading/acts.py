"""Acts: what a person asks of the memory itself, in a turn typed by them and addressed to it.

"Forget that I have diabetes" takes that away; in a mail that somebody pastes it does nothing. So
each is looked at in the voice it is said in, and what only may be meant is put to the person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from incumbent.language.cues import Cues
from incumbent.language.everything import asks_for_everything
from incumbent.language.moods import Kind
from incumbent.language.statements import kind_of
from incumbent.language.voice import Voice
from incumbent.reading.form import Act, ActKind
from incumbent.reading.segments import Segment

_UNDO = re.compile(
    r"(?:please |no,? |sorry,? |wait,? |oh,? )*"
    r"(?:undo|take (?:that|it|this) back|scratch|strike|forget|ignore|disregard|never mind|"
    r"nevermind|i take (?:that|it) back)"
    r"(?: (?:that|it|this|the last (?:one|thing|change|message)|what i (?:just )?said))?"
    r"(?:,? please| then| again|,? sorry)*[.! ]*",
    re.IGNORECASE,
)
_MAIL = re.compile(
    r"^(?:subject|from|to|cc|date|sent|re|fwd?):|^(?:dear|hi|hello) \w+,\s*$|"
    r"^(?:best|regards|kind regards|cheers|sincerely|yours),?\s*\w*\s*$",
    re.IGNORECASE | re.MULTILINE,
)


def acts(text: str, found: Sequence[Segment]) -> Iterator[Act]:
    """The requests of a turn. One that holds more than prose asks for nothing by itself."""
    voice = Voice(text)
    is_mixed = _MAIL.search(text) is not None or any(one.block.value != "prose" for one in found)
    for one in found:
        act = _act(one)
        if act is None:
            continue
        if not voice.is_own(one.start, one.end) or voice.is_retold(one.start, one.end):
            continue
        whole = voice.is_own(*voice.sentence(one.start, one.end))
        sure = whole and not is_mixed and len(found) <= 3
        yield Act(act.kind, act.what, one.start, one.end, is_sure=sure)


def _act(one: Segment) -> Act | None:
    text = one.text
    where = (one.start, one.end)
    if text.rstrip().endswith("?"):
        return None
    if asks_for_everything(text):
        return Act(ActKind.ERASE_ALL, "", *where)
    if _UNDO.fullmatch(text.strip()) is not None:
        return Act(ActKind.UNDO, "", *where)
    cues = Cues(text)
    if (erasure := cues.erasure) is not None:
        return Act(ActKind.ERASE, erasure.what, *where)
    if cues.removes is not None:
        return Act(ActKind.RETRACT, cues.removes, *where)
    back = cues.goes_back_to
    if back is not None and kind_of(text)[0] is not Kind.HYPOTHETICAL:
        return Act(ActKind.REVERT, back, *where)
    return None
