"""The numbers that reading goes by, and what was measured for each."""

from __future__ import annotations

from typing import Final

ENDED: Final = (2.0, 0.96, 0.985)
"""From here on a statement is superseded and not only doubted, by how alike the two are; of two
that have few words in common the model is never certain enough."""
DOUBTED: Final = {True: (0.7, 0.93, 0.98), False: (0.82, 0.96, 0.98)}
"""From here on it is possibly outdated: said in this conversation (True) or on another day, and
having few, some or most of its words in common with what is said. The more alike two sentences are,
the more often they speak of two things. Decision 58 has why."""
DOUBTED_VALUE: Final = {True: (0.7, 0.88, 0.95), False: (0.82, 0.94, 0.975)}
"""The same, where both say an amount, a day or a time, and not the same one."""
ALIKE: Final = 0.5
"""So much of a statement is said again in the same order where two are most alike."""
AKIN: Final = 0.25
"""The same, where they are somewhat alike."""
COMMON: Final = 0.2
"""So many words of the shorter one are in both, in any order, where they are somewhat alike."""
FAR: Final = 0.2
"""So near in meaning is what a statement is about that has no word in common with it."""
NEAR: Final = 0.24
"""The same, for a value of it to be amended."""
CUE: Final = 0.1
"""How much less likely it may be where a correction is announced."""
READ: Final = 8
"""So many things that a turn may be about are read beside it."""
AGAIN: Final = 5
"""So many of those a larger model is asked about, the likeliest to change first."""
LIKELY: Final = 0.01
"""Nothing that is less likely to change than this. Of what does change it is asked about 94 %."""
JUST: Final = 2
"""So many of the last things said here count as said just now."""
RESTATED: Final = 0.98
"""How likely what has one at a time is over where another value is said in the same words."""
PART: Final = 0.8
"""From here on one value of a statement is over."""
PARTLY: Final = 0.9
"""So surely must a statement be over in part for a stretch of it to be masked, and not all of it
put in doubt."""
OVER: Final = 0.8
"""From here on a word of something known is surely over, where only a part of that is,"""
OVER_BESIDE: Final = 0.75
"""and from here on those beside it are as well."""
RESTS: Final = 0.6
"""From here on a statement rests on another."""
OWN: Final = 0.97
"""So surely must something be stated that reads as if it were retold, to be the person's word."""
TOLD: Final = 0.85
"""How likely it is that a correction of one stretch, of the same thing by its name, is meant so."""
