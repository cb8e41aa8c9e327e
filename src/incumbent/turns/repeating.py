"""Turns that come twice: the same ref and the same words are the same turn, and done once.

They are recognised by a digest of their words that says as little as it can.

    <mark>$<digest>     a turn that goes by a ref: 128 bits, keyed with the mark
    <mark>$             one without, or one whose words were forgotten
    <four digits>       as earlier versions have it

The mark is random and belongs to one turn, so that two who say the same have nothing in common, and
no list of digests made ahead fits any of them. Whoever reads the database can still try out words
on a turn. Therefore only a turn that can come twice has a digest at all, and an erasure takes it
away from every turn of those who stated, or owned, what is erased: such a turn is known by its ref
alone from then on.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

from incumbent.engine.lens import Lens
from incumbent.model.errors import DuplicateId
from incumbent.model.fact import Status
from incumbent.model.records import Turn
from incumbent.model.verdict import Verdict
from incumbent.stores.port import Reader
from incumbent.turns.observation import Observation
from incumbent.turns.receiving import Received

_MARK_BYTES = 8
_DIGEST_BYTES = 16
_END = "$"
_SHORT = 4


def digest_of(speaker: str, text: str, ref: str | None) -> str:
    """What is kept of a turn's words. Different each time."""
    mark = secrets.token_hex(_MARK_BYTES)
    return f"{mark}{_END}" if ref is None else f"{mark}{_END}{_keyed(mark, speaker, text)}"


def mark_of(digest: str) -> str:
    """What tells a turn from every other, and nothing of what it said."""
    return digest.partition(_END)[0]


def may_say(digest: str, speaker: str, text: str) -> bool:
    """Whether a turn with this digest said these words, as far as it still tells."""
    mark, end, kept = digest.partition(_END)
    if end or not digest:
        return not kept or hmac.compare_digest(kept, _keyed(mark, speaker, text))
    return digest == hashlib.sha256(_said(speaker, text)).hexdigest()[:_SHORT]


def _keyed(mark: str, speaker: str, text: str) -> str:
    made = hashlib.blake2b(_said(speaker, text), key=mark.encode(), digest_size=_DIGEST_BYTES)
    return made.hexdigest()


def _said(speaker: str, text: str) -> bytes:
    return f"{speaker}\n{text}".encode()


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
