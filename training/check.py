"""Checks content files and shows examples made of them.

python -m training.check [FILE ...] [--seed N] [--show N]
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from random import Random

from training.content import BadContent, load
from training.examples import Example
from training.pairs import Generator


def shown(example: Example) -> str:
    """An example on two lines."""
    text, marked = example.statement, example.statement
    for mark in reversed(example.marks):
        value = text[mark.start : mark.end]
        new = "" if mark.new is None else f" → {example.reply[mark.new[0] : mark.new[1]]!r}"
        marked = f"{marked[: mark.start]}«{value}»[{mark.label}{new}]{marked[mark.end :]}"
    return f"[{example.form}] {marked}\n    {example.previous or '–'}  ¦  {example.turn}"


def main() -> None:
    """Check, show, and count."""
    parser = argparse.ArgumentParser(description="Check content files and show examples.")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=40)
    options = parser.parse_args()
    try:
        records = load(options.files or None)
    except (BadContent, KeyError) as error:
        raise SystemExit(f"bad content: {error}") from None
    examples = list(Generator(records, options.seed).examples(200))
    for example in Random(options.seed).sample(examples, min(options.show, len(examples))):
        print(shown(example))
    forms = Counter(example.form for example in examples)
    labels = Counter(mark.label for example in examples for mark in example.marks)
    print(f"\n{len(records)} records, {len(examples)} examples")
    print(", ".join(f"{form} {count}" for form, count in forms.most_common()))
    print(", ".join(f"{label} {count}" for label, count in labels.most_common()))


if __name__ == "__main__":
    main()
