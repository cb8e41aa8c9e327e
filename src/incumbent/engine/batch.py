"""Many proposals in one transaction, of which those that meet nobody are recorded together."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from incumbent.engine.proposal import Proposal
from incumbent.engine.registrar import Registrar
from incumbent.model.fact import Fact
from incumbent.model.verdict import Verdict
from incumbent.stores.port import Matter


class WriteBatch:
    """Proposals that follow each other. Later ones meet earlier ones.

    What they meet is looked up once for all of them. A proposal on a matter that nobody has spoken
    of needs nothing else from the store: its verdict waits, until one comes that has to be judged,
    or until the end.
    """

    def __init__(self, registrar: Registrar, proposals: Iterable[Proposal]) -> None:
        self._registrar = registrar
        self._waiting: list[tuple[Verdict, Fact]] = []
        self._met = registrar.transaction.met(registrar.lens.owners, map(_matter, proposals))

    def propose(self, proposal: Proposal) -> Verdict:
        """Judge the next proposal. Its verdict is recorded when the batch is finished."""
        registrar, matter = self._registrar, _matter(proposal)
        if matter not in self._met and self._stands_alone(proposal):
            fact = registrar.candidates.unopposed(proposal, registrar.now)
            if fact is not None:
                self._met.add(matter)
                verdict = registrar.establish(fact, proposal.confidence)
                self._waiting.append((verdict, fact))
                return registrar.shown_to_author(verdict, fact)
        return self._judged(proposal)

    def finish(self) -> None:
        """Record what still waits."""
        if self._waiting:
            self._registrar.transaction.record_all(self._waiting)
            self._waiting = []

    def _stands_alone(self, proposal: Proposal) -> bool:
        """Whether it looks at no fact but those on its own matter."""
        if proposal.id is not None or proposal.refers_to_others:
            return False
        return not proposal.may_be_late(self._registrar.now)

    def _judged(self, proposal: Proposal) -> Verdict:
        """The verdict on a proposal that has to be compared with what is recorded."""
        self.finish()
        touched = self._registrar.touched
        before = len(touched)
        verdict = self._registrar.propose(proposal)
        # Others may have taken office with it, on matters that nobody held until now.
        brought = islice(reversed(touched.values()), len(touched) - before)
        self._met.update((fact.key, fact.subject or "") for fact in brought)
        return verdict


def _matter(proposal: Proposal) -> Matter:
    return proposal.key, proposal.subject or ""
