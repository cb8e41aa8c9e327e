"""Small conversations of our own, in the format of the files."""

from __future__ import annotations

from pathlib import Path

MOVED = """\
== own-1 | personal | a move, a cat, a stray order
@ 2026-03-02 09:10 user
1 My address is 9 Mill Lane. {user | address | 9 Mill Lane}
@ 2026-03-02 09:11 assistant
Thank you, I have noted that.
@ 2026-03-02 09:12 user
2 My cat is called Pepper. {cat | name | Pepper}
? Is that a common name?
@ 2026-03-09 18:40 user
3 My address is 4 Quay Street. {user | address | 4 Quay Street} [replaces 1]
! Make it shorter.
== ask
What is the user's address? => 4 Quay Street ; not 9 Mill Lane
What is the cat called? => Pepper
What colour is the cat? => nobody said | untold
"""
"""The memory gets the first two questions right, and the third wrong."""


def written(path: Path, text: str = MOVED) -> Path:
    """A file of conversations."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
