"""Puts together what models say of the folds that each has not seen.

python training/blend.py OUT.npz FOLD.unseen.npz ...
"""

from __future__ import annotations

import sys

import numpy as np


def main() -> None:
    out, *paths = sys.argv[1:]
    found: dict[str, np.ndarray] = {}
    for path in paths:
        said = np.load(path)
        for name in said.files:
            known = found.get(name, np.full_like(said[name], -1.0))
            found[name] = np.where(said[name] >= 0, said[name], known)
    np.savez_compressed(out, **found)


if __name__ == "__main__":
    main()
