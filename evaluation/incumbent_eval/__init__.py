"""The evaluation: runners that feed recorded conversations in and score the results.

`cases` (dialogues in which people change their mind), `scope` (statements that claim nothing) and
`statebench` (the public suite of that name, its peers in the same run). Data are given by path and
are never part of the package. `docs/evaluation.md` says how each figure is counted.
"""
