"""Turns that come twice: the same ref and the same words are the same turn, and done once."""

from __future__ import annotations

from incumbent.engine.lens import Lens
from incumbent.model.errors import DuplicateId
from incumbent.model.fact import Status
from incumbent.model.records import Turn
from incumbent.model.verdict import Verdict
from incumbent.stores.port import Reader
from incumbent.turns.observation import Observation
from incumbent.turns.receiving import Received
from incumbent.turns.recognising import may_say


def observed_before(reader: Reader, lens: Lens, session_id: str, came: Received) -> Turn | None:
    """The turn that was observed under this ref, if it is the same one.

    Raises DuplicateId if the ref stands for another turn of the session.
    """
    if came.ref is None:
        return None
    for turn in reader.turns_called(lens.identity.user_id, came.ref):
        here = turn.session_id == session_id
        same = may_say(turn.digest, came.speaker.name, came.text)
        if same and (here or turn.at == came.at):
            return turn
        if here:
            raise DuplicateId(
                f"ref {came.ref!r} was used for another turn of this session, and a ref names one "
                f"turn; give this one a ref of its own, and observe what comes in pieces, such as "
                f"a streamed reply, once it is whole"
            )
    return None


def told_again(reader: Reader, lens: Lens, turn: Turn) -> Observation:
    """What came of a turn when it was observed, as far as whoever asks may know."""
    facts = (lens.by_id(reader, fact_id) for fact_id in turn.fact_ids)
    decided = (reader.verdict(verdict_id) for verdict_id in turn.verdict_ids)
    # Who asks again may have fewer rights by now than when the turn was observed.
    verdicts = (one for one in decided if one is not None and _may_know(reader, lens, one))
    return Observation(
        turn_index=turn.turn_index,
        speaker=turn.speaker,
        at=turn.at,
        ref=turn.ref,
        facts=tuple(fact for fact in facts if fact is not None),
        verdicts=tuple(verdicts),
        repeated=True,
    )


def _may_know(reader: Reader, lens: Lens, verdict: Verdict) -> bool:
    """Whether whoever asks may see what a verdict is about; of what was erased it says ids."""
    fact = reader.fact(verdict.fact_id)
    return fact is None or fact.status is Status.ERASED or lens.sees(reader, fact)
