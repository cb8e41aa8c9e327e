"""Standing words: what a person asks of an assistant from then on, and what they prefer."""

from __future__ import annotations

import re
from typing import Final

_LONGEST: Final = 600
_BEFORE = (
    r"(?:[\W_]*(?:please|pls|and|also|but|so|ok(?:ay)?|oh|by the way|btw|one more thing|note|just)"
    r"\b)*\W*"
)
_ORDER = re.compile(
    rf"{_BEFORE}(?:"
    r"(?:always|never)\s+(?!(?:been|was|were|had|have|did|is|are|mind|said|thought|knew|heard)\b)"
    r"|(?:from now on|going forward|from here on)[, ]+(?:please )?(?:always|never|use|call|keep|"
    r"answer|reply|write|send|speak|include|do|don['’]?t|you|be)\b"
    r"|(?:use|call|keep|answer|reply|write|send|speak|include|give|show|put|make|format)\b[^.?!]*"
    r"\b(?:from now on|going forward|from here on)\b"
    r"|(?:when|whenever|every time|each time|any ?time)\s+i\s+(?:ask|mention|request|inquire)\b"
    r"|(?:call|address) me\b(?! (?:at|on|back|later|tomorrow|today|when|tonight))"
    r"|(?:keep|make) (?:(?:your|all|the) )?(?:answers?|repl(?:y|ies)|responses?|messages?|tone|"
    r"explanations?|summar(?:y|ies))\b"
    r"|(?:do not|don['’]?t|stop)\s+(?:ever|us(?:e|ing)|touch(?:ing)?|add(?:ing)?|call(?:ing)?|"
    r"ask(?:ing)?|includ(?:e|ing)|mention(?:ing)?|suggest(?:ing)?|recommend(?:ing)?)\b"
    r")",
    re.IGNORECASE,
)
_LASTS = re.compile(
    r"\b(?:(?:please|to|(?:can|could|would|will|should|must) you|you (?:should|must)) "
    r"(?:always|never)\b|always (?:include|provide|use|show|give|add|format|"
    r"mention|answer|reply|respond|ask|start|end|explain|keep|make|remind|tell|list|specify)\b|"
    r"(?:when|whenever|every time|each time) i (?:ask|mention|request|inquire)\b)",
    re.IGNORECASE,
)
_PREFERS = re.compile(
    r"\b(?:i|we)(?:['’]d| would)?(?: (?:really|much|also|still|always|usually|generally|typically|"
    r"definitely|strongly|would|now|do))* (?:prefer|rather|favou?r)\b|\bmy preferences?\b|"
    r"\bi(?:['’]d| would) like you to\b",
    re.IGNORECASE,
)


def is_instruction(text: str) -> bool:
    """True for what an assistant is to do from then on: "Always give sources", "Call me Sam"."""
    if len(text) > _LONGEST or text.rstrip().endswith("?"):
        return False
    return _ORDER.match(text) is not None or _LASTS.search(text) is not None


def names_preference(text: str) -> bool:
    """True for what somebody says that they prefer: "I prefer trains to planes"."""
    return len(text) <= _LONGEST and "?" not in text and _PREFERS.search(text) is not None
