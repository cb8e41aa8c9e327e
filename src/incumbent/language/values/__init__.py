"""Values in text: dates, times, amounts, names and what else people state, found and normalised.

`finding.find` gives the values of a sentence, each with one spelling for everything that means the
same; `comparing.same` tells whether two are the same value. Words are data
(`data/<language>/values.toml`); what they are called here are classes of words.

Nothing is imported here: two threads that load parts of this at the same time would meet halfway.
"""
