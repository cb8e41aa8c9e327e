"""Worth: which statements are kept. In doubt a statement is: what is shown can be ignored."""

from __future__ import annotations

import re
from typing import Final

from incumbent.language.speakers import plain_name
from incumbent.reading.form import Statement, StatementKind

_LONGEST_READING: Final = 600
"""A longer answer of a tool is kept as a turn alone."""
_FEWEST: Final = 3
"""A statement of fewer words tells something only with a value."""
_OF_A_TASK: Final = 3
"""So many values make an order a task, whose values are worth knowing."""
_LASTING_KINDS: Final = frozenset({"email", "phone", "address"})
"""Ways to reach somebody outlast the order they were given with."""
_TRIVIAL: Final = frozenset({"term", "number"})
_LASTING = re.compile(
    r"\b(?:remind|remember|always|never|from now on|every|prefer|don['’]t forget|note that|"
    r"keep in mind|make sure|call me|address me|answers?|repl(?:y|ies)|tone|emojis?|at most|"
    r"no more|instead|only|not|no|don['’]t|stop|until|unless|for me|my|our|with me)\b",
    re.IGNORECASE,
)
_AT_ONCE = re.compile(
    r"\W*(?:(?:please|pls|now|then|ok(?:ay)?|so|and|also|just|first|next|can you|could you|let's|"
    r"go ahead and)\W+)*(?:show|tell|explain|describe|summari[sz]e|write|rewrite|draft|translate|"
    r"list|give|create|generate|compute|calculate|run|check|look|find|search|print|open|read|compare|"
    r"suggest|recommend|help|say|repeat|continue|go|try|fix|debug|review|walk|think|wait|hold)\b",
    re.IGNORECASE,
)
"""What is done on the spot, and over then."""
_DONE = re.compile(
    r"\b(?:done|pushed|turned|enabled|disabled|switched|rotated|installed|rolled|started|stopped|"
    r"restarted|fixed|found|uses|expires|is (?:now|on|off|set)|booked|sent|scheduled|ordered|"
    r"cancelled|canceled|created|changed|updated|moved|added|removed|confirmed|reserved|paid|"
    r"refunded|shipped|delivered|deployed|merged|closed|opened|renamed|set|saved|assigned|"
    r"registered|submitted|rescheduled|issued)\b",
    re.IGNORECASE,
)
_OFFERED = re.compile(
    r"\b(?:would you|shall i|should i|can i|could i|let me|want me to|if you|you (?:can|could|may|"
    r"might|should)|do you|are you|i (?:can|could|would)|feel free|consider|try)\b|\?",
    re.IGNORECASE,
)


def is_tool(speaker: str) -> bool:
    """Whether a machine is a tool, whose output is a reading and no talk."""
    return plain_name(speaker).split("(")[0].strip() in ("tool", "function")


def is_worth_keeping(said: Statement) -> bool:
    """Whether a statement of a person tells something that lasts."""
    words = said.text.split()
    telling = [part for part in said.parts if part.kind not in _TRIVIAL]
    if said.kind is StatementKind.ORDERS:
        if telling or _LASTING.search(said.text) is not None:
            return True
        return len(words) >= _FEWEST and _AT_ONCE.match(said.text) is None
    if said.kind is StatementKind.REPORTS and said.chance == 1.0:
        return False  # pasted or quoted: nobody's word here
    if said.kind in (StatementKind.STATES, StatementKind.REPORTS, StatementKind.RECALLS):
        return len(words) >= _FEWEST or bool(said.parts)
    return said.kind is StatementKind.VERBATIM


def is_for_now(said: Statement) -> bool:
    """Whether a statement only tells what to do now, and says nothing that lasts."""
    if said.kind is not StatementKind.ORDERS or len(said.parts) >= _OF_A_TASK:
        return False
    lasts = any(part.kind in _LASTING_KINDS for part in said.parts)
    return not lasts and _LASTING.search(said.text) is None


def is_done(said: Statement, speaker: str) -> bool:
    """Whether a machine reports something as done or found, or gives a reading of its own."""
    if is_tool(speaker):
        return len(said.text) <= _LONGEST_READING
    if said.kind is StatementKind.VERBATIM or _OFFERED.search(said.text):
        return False
    return len(said.text.split()) >= _FEWEST and _DONE.search(said.text) is not None
