"""The mean of models that were trained from the same start with other seeds.

python training/soup.py OUT.npz BASE.npz TRAINED.npz ...

OUT has the table of words of BASE as well, so that it can be measured by `train.py --epochs 0`.
"""

from __future__ import annotations

import sys

import numpy as np


def main() -> None:
    out, base, *paths = sys.argv[1:]
    models = [np.load(path) for path in paths]
    mean = {
        name: np.mean([model[name].astype(np.float32) for model in models], 0)
        for name in models[0].files
    }
    np.savez(out, **{n: v.astype(np.float16) for n, v in mean.items()})
    words = np.load(base)["words.weight"]
    np.savez(out.replace(".npz", ".whole.npz"), **mean, **{"words.weight": words})


if __name__ == "__main__":
    main()
