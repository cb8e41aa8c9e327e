"""Values in text: dates, times, amounts, names and what else people state, found and normalised.

`find` gives the values of a sentence, each with one spelling for everything that means the same;
`same` tells whether two are the same value. Words are data (`data/<language>/values.toml`); what
they are called here are classes of words.
"""

from tenure.language.values.comparing import same
from tenure.language.values.finding import find
from tenure.language.values.kinds import Value, ValueKind

__all__ = ["Value", "ValueKind", "find", "same"]
