"""Addressing: where a statement sits: under which key, of which subject, with which words."""

from __future__ import annotations

from incumbent.language.lexicon import lexicon
from incumbent.language.tokens import stem
from incumbent.observing import resolving
from incumbent.observing.circumstances import Address, Circumstances, whole_part, within
from incumbent.observing.situation import STATEMENT, Situation, is_request
from incumbent.observing.understanding import Understood, is_framing

REQUEST = "_request"
"""What the key of a request ends in where the thing itself has a value."""


class Addressing:
    """Finds the addresses of the statements of one turn."""

    def __init__(self, situation: Situation, circumstances: Circumstances) -> None:
        self._situation = situation
        self._around = circumstances

    def address(self, said: Understood) -> Address:
        """Where a statement sits, and what of it."""
        attribute = said.attribute
        if attribute is not None and attribute.is_sure:
            subject = attribute.subject
            if subject is None and attribute.is_own and not self._around.speaker.is_self:
                subject = self._around.speaker.name.lower()
            parts = within(said.frame.parts, attribute.start, attribute.end) or (
                whole_part(attribute.value),
            )
            return Address(
                attribute.key, self._narrowed(said, subject), attribute.value, parts, False
            )
        text = said.text.strip()
        parts = within(said.parts, said.text.index(text) if text else 0, len(said.text))
        if said.is_request or self._goes_on(said):
            subject = self._narrowed(said, said.frame.label)
            return Address(self.matter(said), subject, text, parts, True)
        return Address(STATEMENT, None, text, parts, True)

    def _goes_on(self, said: Understood) -> bool:
        """Whether a statement only makes sense as part of the request at hand.

        It brings a value, or answers somebody: "just to say it again" does neither.
        """
        if not said.is_fragment or self._situation.matter is None or said.tells_of_a_thing:
            return False
        brings = any(not is_framing(part) for part in said.frame.parts)
        return brings or bool(self._situation.previous)

    def matter(self, said: Understood) -> str:
        """The key of the request that a statement opens or belongs to.

        A request for a thing is no value of it: it does not sit where the value sits.
        """
        key = self._matter(said)
        single = any(not is_request(fact) for fact in self._situation.holding(key, None))
        return f"{key}{REQUEST}" if single else key

    def _matter(self, said: Understood) -> str:
        frame, situation = said.frame, self._situation
        if frame.asks_for is not None:
            asked = stem(frame.asks_for)
            if situation.matter is None or asked not in situation.mentioned:
                return frame.asks_for
            held = {stem(fact.key): fact.key for fact in situation.facts.values()}
            return held.get(asked, situation.matter)
        return situation.matter or frame.thing or said.key

    def _narrowed(self, said: Understood, subject: str | None) -> str | None:
        if subject in lexicon().possessors:
            subject = self._situation.last_named or subject
        if subject is not None or said.narrowed_to is None or self.is_scoped(said):
            return subject
        words = said.narrowed_to.lower().split()
        if words and words[0] in ("the", "this", "that", "my", "our", "your"):
            words = words[1:]
        return " ".join(words) or None

    def is_scoped(self, said: Understood) -> bool:
        """Whether what a statement is limited to is a scope, and not a thing."""
        return said.cues.is_for_session or self._is_for_task(said)

    def _is_for_task(self, said: Understood) -> bool:
        task_id = self._around.task_id
        return task_id is not None and (
            said.cues.is_for_task or resolving.is_task(said.narrowed_to, task_id)
        )
