"""Filing: from a statement to a proposal: where it sits, with whose authority, on what grounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from incumbent.engine.proposal import Proposal
from incumbent.engine.registrar import Registrar
from incumbent.language.audience import is_for_all, is_of_oneself
from incumbent.language.speakers import is_machine
from incumbent.language.statements import Kind
from incumbent.language.things import opens_with_bare_thing
from incumbent.language.validity import Validity
from incumbent.model.authority import Authority, Ladder
from incumbent.model.fact import Fact, MemoryType, Part, Said, Source
from incumbent.model.scope import Scope
from incumbent.observing import resolving
from incumbent.observing.addressing import Addressing
from incumbent.observing.circumstances import (
    Address,
    Circumstances,
    history_of,
)
from incumbent.observing.situation import STATEMENT, Situation
from incumbent.observing.understanding import Understood, typed
from incumbent.rules.authority import may_speak, may_write_as, outranks
from incumbent.rules.classification import classify_constraint

_LONGEST_QUOTE = 500
_MOMENT = timedelta(seconds=1)
_PLAIN = Source(type="conversation")
_RULINGS = ("policy", "capacity")
"""The constraints that nobody has for themselves alone, as they have budgets and deadlines."""
_STATED = 0.95
_HEARSAY = 0.5
"""What somebody says against a higher one whom they quoted before: that has to be asked about."""


class Filing(Addressing):
    """Makes the proposals of one turn."""

    def __init__(
        self, registrar: Registrar, situation: Situation, circumstances: Circumstances
    ) -> None:
        super().__init__(situation, circumstances)
        self._registrar = registrar

    def proposal(
        self, said: Understood, last: Sequence[Fact] = (), named: Sequence[Fact] = ()
    ) -> Proposal:
        """What a statement puts forward.

        `last` are the facts that a conclusion is drawn from, `named` those that it says it is.
        """
        address = self.address(said)
        bases = self._bases(said, last, named, address)
        validity = said.validity
        if said.is_request and validity is not None and validity.valid_from is not None:
            validity = None  # from when to when is what is asked for, not how long that holds
        if _only_tells_an_end(said):
            validity = None  # that a passport has run out is known from when it does
        scope, scope_id = self._place(said)
        constraint = self._constraint(said)
        found = {
            "depends_on": bool(bases),
            "constraint_type": constraint is not None,
            "valid_from": validity is not None and validity.valid_from is not None,
            "valid_until": validity is not None and validity.valid_until is not None,
            "scope": scope is not Scope.GLOBAL and self._around.branch is None,
            "authority": said.by is not None,
            "is_constraint": constraint is None and self._binds(address),
        }
        return Proposal(
            key=address.key,
            value=address.value,
            subject=address.subject,
            scope=scope,
            scope_id=scope_id,
            depends_on=bases,
            source=self.source(said, address.parts, inferred=(n for n, so in found.items() if so)),
            authority=self.authority(said),
            constraint_type=constraint,
            valid_from=self._valid_from(validity),
            valid_until=validity.valid_until if validity is not None else None,
            at=self._around.at,
            memory_type=self.memory_type(said),
            confidence=_STATED,
            multi_valued=address.stands_beside,
            spoken=True,
        )

    # where it sits

    def _place(self, said: Understood) -> tuple[Scope, str | None]:
        around = self._around
        if around.branch is not None:
            return around.branch[0], around.branch[1] or None
        if said.cues.is_for_session:
            return Scope.SESSION, around.session_id
        if self._is_for_task(said):
            return Scope.TASK, around.task_id
        return Scope.GLOBAL, None

    # whose word it is

    def authority(self, said: Understood) -> str | None:
        """The authority that a statement speaks with: that of whom it quotes, where one may."""
        quoted = self._may_quote(said)
        return quoted.title if quoted is not None else self._around.speaker.authority

    def rung(self, said: Understood) -> str:
        """The rung that a statement is spoken from."""
        title = self.authority(said)
        identity = self._registrar.identity.authority
        return self._registrar.ladder.resolve(title).rung if title else identity.rung

    def _may_quote(self, said: Understood) -> Authority | None:
        """The authority that a statement quotes, if the session may speak for it."""
        ladder = self._registrar.ladder
        known = title_in(said.by, ladder)
        own = self._around.speaker.authority
        if known is not None and own is not None:
            # Whoever speaks with an authority of their own does not borrow the session's.
            return known if not outranks(known.rung, ladder.resolve(own).rung, ladder) else None
        if known is not None and may_write_as(self._registrar.identity, known.rung, ladder):
            return known
        return None

    def memory_type(self, said: Understood) -> MemoryType:
        """Whose memory a statement is: the speaker's own, also where it is hearsay.

        The organization is spoken for on purpose: in so many words, by whoever may, or by the
        voice of policy where it states a limit or a policy and nothing of itself.
        """
        if not self._around.speaker.is_self or not self.may_speak(said):
            return MemoryType.USER
        text = said.statement.text
        if is_for_all(text) or (self._is_ruling(said) and not is_of_oneself(text)):
            return MemoryType.ORGANIZATIONAL
        return MemoryType.USER

    def _is_ruling(self, said: Understood) -> bool:
        """Whether the highest rung states a limit or a policy, by the name of what it states."""
        ladder = self._registrar.ladder
        top = len(ladder.rungs) - 1
        if top == 0 or ladder.rank(self.rung(said)) < top:
            return False
        return classify_constraint(self._name(said), None, _PLAIN) in _RULINGS

    def _name(self, said: Understood) -> str:
        """What a statement is about, for telling whether it binds: "Max discount is 15%".

        Such a name is sure enough for that, and not for putting facts in each other's place.
        """
        key = self.address(said).key
        tells = said.tells_of_a_thing or opens_with_bare_thing(said.text)
        return said.thing_key if key == STATEMENT and tells else key

    def speaks_to(self, said: Understood, fact: Fact) -> MemoryType:
        """Whose memory a statement is that replaces a fact: the fact's, where that is their own."""
        return self.memory_type(said) if not fact.owner else fact.memory_type

    def may_speak(self, said: Understood) -> bool:
        """Whether a statement may be the organization's."""
        if said.by is not None and self._may_quote(said) is None:
            return False
        registrar, settings = self._registrar, self._registrar.settings
        title, ladder = self.authority(said), registrar.ladder
        authority = ladder.resolve(title) if title else registrar.identity.authority
        if authority.rank < registrar.identity.authority.rank:
            return False  # somebody else's words, passed on
        return may_speak(registrar.identity, authority, settings.speaking_rung, ladder)

    def confidence(self, said: Understood, held: Sequence[Fact], otherwise: float) -> float:
        """How sure a statement is against these facts: less against the quoted word of a higher.

        To quote somebody lends no authority. But who has said that the board decided, and now says
        otherwise without a word about the board, should be asked.
        """
        ladder = self._registrar.ladder
        now = title_in(said.by, ladder)
        own = now.rung if now is not None else self._registrar.identity.authority.rung
        for fact in held:
            quoted = title_in(fact.source.name, ladder)
            if quoted is not None and outranks(quoted.rung, own, ladder):
                return min(otherwise, _HEARSAY)
        return otherwise

    def source(
        self,
        said: Understood,
        parts: tuple[Part, ...],
        *,
        earlier: tuple[Said, ...] = (),
        inferred: Iterable[str] = (),
        wording: str | None = None,
    ) -> Source:
        """The source of a fact; of `wording` it is told whether anybody said it so."""
        around = self._around
        return Source(
            type="conversation",
            name=said.by.lower() if said.by else None,
            turn_index=around.turn_index,
            speaker=around.speaker.name,
            ref=around.ref,
            span=(said.statement.start, said.statement.end),
            quote=said.statement.text[:_LONGEST_QUOTE],
            parts=parts,
            earlier=earlier,
            inferred=tuple(inferred),
            by_machine=is_machine(around.speaker.name),
            composed=wording is not None and wording not in around.text,
        )

    def rewritten(self, source: Source, text: str, parts: tuple[Part, ...], fact: Fact) -> Source:
        """The source of `text`, which takes the place of `fact`."""
        composed = text not in self._around.text
        return replace(source, parts=parts, earlier=history_of(fact), composed=composed)

    # on what grounds

    def _bases(
        self, said: Understood, last: Sequence[Fact], bases: Sequence[Fact], address: Address
    ) -> tuple[str, ...]:
        """The facts that a statement says it was worked out from."""
        facts = list(self._situation.facts.values())
        found = [base.id for base in bases]
        for name in said.cues.bases if not said.bases else ():
            found += [fact.id for fact in resolving.named(name, facts, [], loosely=True)[:1]]
        if not found and said.derives:
            found = [fact.id for fact in last]
        seat = (address.key, address.subject)
        # Mere statements share a key, and hold no seat.
        own = {f.id for f in facts if (f.key, f.subject) == seat and seat[0] != STATEMENT}
        return tuple(base for base in dict.fromkeys(found) if base not in own)

    def _binds(self, address: Address) -> bool:
        """Whether the wording alone makes a statement a constraint."""
        trusted = self._registrar.identity.authority.rank > 0
        return trusted and classify_constraint(address.key, address.value, _PLAIN) is not None

    def _valid_from(self, validity: Validity | None) -> datetime | None:
        """When a statement begins to be true; what was over when it was said began before that."""
        if validity is None:
            return None
        begins = validity.valid_from or self._around.at or self._registrar.now
        if validity.valid_until is not None and validity.valid_until <= begins:
            return validity.valid_until - _MOMENT
        return validity.valid_from

    def _constraint(self, said: Understood) -> str | None:
        if self._registrar.identity.authority.rank == 0 or said.kind is Kind.HYPOTHETICAL:
            return None  # whoever walks in binds nobody by their choice of words
        if self.address(said).key == STATEMENT and self._name(said) != STATEMENT:
            named = classify_constraint(self._name(said), None, _PLAIN)
            if named is not None:
                return named
        cues = said.cues
        dates = [part for part in said.frame.parts if part.kind == "date"]
        late = any(cues.is_deadline(said.begin + part.start) for part in dates)
        return "deadline" if late else None


def _only_tells_an_end(said: Understood) -> bool:
    """Whether a statement says when a thing ends, and nothing that would end with it."""
    validity = said.validity
    if validity is None or not validity.is_told:
        return False
    others = [part for part in typed(said.frame.parts) if part.kind != "name"]
    return all(part.start >= validity.start for part in others)


def title_in(name: str | None, ladder: Ladder) -> Authority | None:
    """The rung of a title, also of one with more before it: the "policy" of "HR policy"."""
    if not name:
        return None
    return ladder.known(name) or ladder.known(name.split()[-1])
