"""Worth: which statements are kept. In doubt a statement is: what is shown can be ignored."""

from __future__ import annotations

import re
from typing import Final

from incumbent.language.speakers import plain_name
from incumbent.reading.form import Statement, StatementKind

_LONGEST_READING: Final = 600
"""A longer answer of a tool is kept as a turn alone."""
_FEWEST: Final = 3
"""A statement of fewer words tells something only with a value, or where a model is this sure."""
_TELLS: Final = 0.75
_LONG_REPLY: Final = 600
"""Of a longer reply of an assistant only what is said outright as done is kept: its headings,
plans and advice are full of words for things that are done."""
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
_ACTS: Final = (
    r"done|pushed|turned|enabled|disabled|switched|rotated|installed|rolled|started|stopped|"
    r"restarted|fixed|found|booked|sent|scheduled|ordered|cancell?ed|created|changed|updated|moved|"
    r"added|removed|confirmed|reserved|paid|refunded|shipped|delivered|deployed|merged|closed|"
    r"opened|renamed|set|saved|assigned|registered|submitted|rescheduled|issued"
)
_DONE = re.compile(rf"\b(?:{_ACTS}|uses|expires|is (?:now|on|off|set))\b", re.IGNORECASE)
_OFFERED = re.compile(
    r"\b(?:would you|shall i|should i|can i|could i|let me|want me to|if you|you (?:can|could|may|"
    r"might|should)|do you|are you|i (?:can|could|would)|feel free|consider|try)\b|\?",
    re.IGNORECASE,
)
_OUTRIGHT = re.compile(
    rf"\b(?:i|we)(?:['’]ve| have)?(?: (?:just|now|already|also|successfully))* (?:{_ACTS})\b"
    rf"|\b(?:has|have) been (?:{_ACTS})\b",
    re.IGNORECASE,
)
"""What somebody says that they have done."""
_LABELLED = re.compile(r"\W*\w[^:\n]*: *\w")
"""What is said of something, with its name before it: "CR-118: approved"."""
_FOR_HELP = re.compile(
    r"\W*(?:(?:so|and|also|hi|hello|ok(?:ay)?|then|now|please)\W+)*(?:can|could|would|will) you "
    r"(?:please |also )?(?:help|explain|show|suggest|recommend|give|tell|provide|review|describe|"
    r"list|summari[sz]e|compare|walk)\b",
    re.IGNORECASE,
)
_OF_ONESELF = re.compile(
    r"\b(?:i|my|we|our|he|his|she|her|they|their|it)(?:['’]\w+)?\b", re.IGNORECASE
)


def is_tool(speaker: str) -> bool:
    """Whether a machine is a tool, whose output is a reading and no talk."""
    return plain_name(speaker).split("(")[0].strip() in ("tool", "function")


def is_worth_keeping(said: Statement) -> bool:
    """Whether a statement of a person tells something that lasts."""
    if _is_for_help(said.text):
        return False
    words = said.text.split()
    telling = [part for part in said.parts if part.kind not in _TRIVIAL]
    if said.kind is StatementKind.ORDERS:
        if telling or _LASTING.search(said.text) is not None:
            return True
        return len(words) >= _FEWEST and _AT_ONCE.match(said.text) is None
    if said.kind is StatementKind.REPORTS and said.chance == 1.0:
        return False  # pasted or quoted: nobody's word here
    if said.kind in (StatementKind.STATES, StatementKind.REPORTS, StatementKind.RECALLS):
        return len(words) >= _FEWEST or bool(said.parts) or said.chance >= _TELLS
    # Code and logs are kept with the turn, and found by their words.
    is_labelled = _LABELLED.match(said.text) is not None
    return said.kind is StatementKind.AGREES and bool(said.parts) and is_labelled


def is_for_now(said: Statement) -> bool:
    """Whether a statement only tells what to do now, and says nothing that lasts."""
    if said.kind is not StatementKind.ORDERS or len(said.parts) >= _OF_A_TASK:
        return False
    lasts = any(part.kind in _LASTING_KINDS for part in said.parts)
    return not lasts and _LASTING.search(said.text) is None


def _is_for_help(text: str) -> bool:
    """True for a request that tells nothing of whoever asks: "Can you help me with this?"."""
    found = _FOR_HELP.match(text)
    return found is not None and _OF_ONESELF.search(text, found.end()) is None


def is_done(said: Statement, speaker: str, turn: str) -> bool:
    """Whether a machine reports something as done or found, or gives a reading of its own."""
    if is_tool(speaker):
        return len(said.text) <= _LONGEST_READING
    if said.kind is StatementKind.VERBATIM or _OFFERED.search(said.text):
        return False
    words = _OUTRIGHT if len(turn) > _LONG_REPLY else _DONE
    return len(said.text.split()) >= _FEWEST and words.search(said.text) is not None
