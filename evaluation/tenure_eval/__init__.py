"""How well it works: runners that feed recorded conversations in and score what comes out.

`cases` (dialogues in which people change their mind), `scope` (what is said without being claimed)
and `statebench` (the public suite of that name, its peers in the same run). Data are given by path
and are never part of the package. `docs/evaluation.md` says how each figure is counted.
"""
