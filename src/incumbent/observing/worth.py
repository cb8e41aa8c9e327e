"""Worth: whether a statement says anything that is worth keeping."""

from __future__ import annotations

from incumbent.language.learned.kinds import WORD
from incumbent.language.lexicon import data, word_set
from incumbent.language.speakers import is_machine
from incumbent.language.statements import Kind
from incumbent.observing.desk import Desk
from incumbent.observing.sorting import REAL
from incumbent.observing.understanding import Understood, is_framing, typed

_FEW_WORDS = 4
_SOME_WORDS = 6
_MANY_WORDS = 12
_CONDITION_AND_MORE = 14
"""So many words say more than what would be so, and on which condition."""
_UNMEANT = word_set(
    "attitude conditional counterfactual draft irrealis label modal obligation question quoted "
    "rejection report suggestion supposition thanks wish"
)
"""Cues of statements that do not say what is so."""
_KEPT = (*REAL, Kind.HYPOTHETICAL, Kind.SMALL_TALK, Kind.QUESTION, Kind.REPORT)
"""Kinds of statements that may tell something although the rules make nothing of them."""
_OF_A_TASK = 3
"""So many values make an order a task whose values are worth knowing."""
TELLING = 0.55
"""How likely a stretch must tell something that lasts to be kept, where no rule says so."""
_SURELY, _VERY_SURELY = 0.75, 0.95
"""How likely, where the rules take it for something that nobody stands by; and a shorter one."""
_NOT_TELLING = 0.03
"""How likely at least, where the rules would keep it."""
_ORDERED, _SAID_AS_ORDER = 0.33, 0.5
"""How likely an order must be one for now: where the rules take it for a request, and else."""
_TELLS_NOTHING = 0.1
"""Below this a request that is put as a question states nothing."""
_LASTING = ("states", "reports", "recalls")


def only_denies(said: Understood) -> bool:
    """Whether a statement says what is not so, and nothing else."""
    if said.denied and not said.parts and said.cues.opens_denied:
        return True
    if typed(said.parts) or said.attribute is not None or not said.is_fragment:
        return False
    return bool(said.denied) or "rejection" in said.statement.cues


def runs_on(said: Understood) -> bool:
    """Whether a statement is so long that what a rule found in it is not all of it."""
    is_bound = said.waiting is not None or said.cues.contingency is not None
    return not is_bound and not said.is_anchored and len(said.text.split()) >= _MANY_WORDS


class Worth:
    """Judges the statements of one turn, in order."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._orders: dict[int, bool] = {}
        self._by_machine = is_machine(desk.around.speaker.name)

    def is_for_now(self, said: Understood) -> bool:
        """Whether a statement matters only as long as its session: an order with its values.

        "Set the oven to 180 degrees" can be corrected a moment later; the next day it is nothing.
        """
        return self._only_orders(said)

    def tells(self, said: Understood) -> bool:
        """Whether a statement tells something that lasts, whatever form it has."""
        is_short = len(said.text.split()) < _FEW_WORDS
        if is_short and said.kind is Kind.CONFIRMATION and not self._by_machine:
            return False  # "send it" tells nothing by itself; a tool's "R-5520: approved" does
        return self._desk.stretches.chance(said, "states", 0.0) >= TELLING

    def may_be_kept(self, said: Understood) -> bool:
        """Whether nothing in a statement that the rules made nothing of speaks against it."""
        if said.cues.erasure is not None or self._desk.record.doomed:
            return False
        if self._tells_all_the_same(said):
            return not self._desk.is_retold(said)
        if said.denied or said.corrects or len(WORD.findall(said.text)) < _FEW_WORDS:
            return False
        if not self._desk.is_meant(said):
            return False
        return said.kind in _KEPT and (_UNMEANT.isdisjoint(said.statement.cues) or runs_on(said))

    def _tells_all_the_same(self, said: Understood) -> bool:
        """Whether a statement surely tells something, although a word of it says otherwise.

        Of a sentence that says several things, a word of doubt is not about all of them.
        """
        chance, words = (
            self._desk.stretches.chance(said, "states", 0.0),
            said.statement.text.split(),
        )
        if not words or words[0].lower() in word_set(data("desk")["supposing"]):
            return False
        if "conditional" in said.statement.cues:
            enough = _CONDITION_AND_MORE
        elif said.kind in REAL or (chance >= _VERY_SURELY and said.kind is not Kind.QUESTION):
            enough = _SOME_WORDS
        else:
            enough = _MANY_WORDS
        return chance >= _SURELY and len(words) >= enough

    def is_worth_filing(self, said: Understood) -> bool:
        """Whether a statement says anything by itself: "Terrific." and "Sort it" do not."""
        if self._only_orders(said) and all(is_framing(part) for part in said.frame.parts):
            return False
        kinds = self._desk.stretches.kinds(said)
        if kinds and sum(kinds[name] for name in _LASTING) < _NOT_TELLING:
            return False
        words = said.text.split() or [""]
        if len(words) <= _FEW_WORDS and words[0].lower() in word_set(data("desk")["dismissing"]):
            return False
        if said.attribute is not None or any(not is_framing(part) for part in said.frame.parts):
            return True
        if said.cues.is_in_earnest:
            return False  # it only says that what follows is meant
        if len(words) == 1 and not self._desk.situation.previous.rstrip().endswith("?"):
            return False
        return bool(said.frame.order) or len(words) > _FEW_WORDS

    def _only_orders(self, said: Understood) -> bool:
        """Whether a statement only tells the assistant what to do now.

        What answers a question, goes on with a request or says several values ("a table for 4 at
        5 pm") settles something. A remark about what an order is about goes with it: "Print the
        label, it came off".
        """
        start = said.statement.start
        if start not in self._orders:
            self._orders[start] = self._is_order(said)
        return self._orders[start]

    def _is_order(self, said: Understood) -> bool:
        situation = self._desk.situation
        if said.kind is Kind.REPORT:
            return False
        if len(typed(said.parts)) >= _OF_A_TASK:
            return False
        if "?" in situation.previous or situation.matter is not None:
            return False
        goes_on = bool(self._orders) and list(self._orders.values())[-1]
        goes_on = goes_on and said.points_back and not typed(said.parts)
        kinds = self._desk.stretches.kinds(said)
        if goes_on or not kinds or said.kind is not Kind.REQUEST:
            return goes_on or bool(kinds and kinds["orders"] >= _SAID_AS_ORDER)
        # "Can you put that in a table?" asks, and orders.
        return kinds["orders"] >= _ORDERED or kinds["states"] < _TELLS_NOTHING < kinds["asks"]
