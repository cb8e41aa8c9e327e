"""Builds the documentation site from README.md, CONTRIBUTING.md, CHANGELOG.md and docs/.

    python -m tools.site.build build/site

The pages are Markdown that GitHub shows as it is. They are copied to one folder, with their links
set right, beside the pages of the API reference, and Sphinx makes the site of them. Every warning
is an error: a dead link, a missing anchor, a page that the navigation leaves out.
"""

from __future__ import annotations

import argparse
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.site.navigation import NAVIGATION, Group
from tools.site.reference import reference_pages

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
LINK = re.compile(r"(\]\(|<img [^>]*src=\")([^)\s\"#]*)(#[^)\s\"]*)?(?=[)\"])")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

# Where a file of the repository stands in the site, if not where it stands in docs/.
MOVED = {
    "README.md": "index.md",
    "docs/index.md": "contents.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "LICENSE": "LICENSE.txt",
    "NOTICE": "NOTICE.txt",
}


def place(file: str) -> str:
    """Where a file of the repository stands in the site."""
    return MOVED.get(file, file.removeprefix("docs/"))


def relinked(text: str, file: str) -> str:
    """The text of a page with its links as they are in the site. Code stays as it is."""

    def link(match: re.Match[str]) -> str:
        opening, target, anchor = match[1], match[2], match[3] or ""
        if not target or re.match(r"\w+:", target):
            return match[0]
        named = posixpath.normpath(posixpath.join(posixpath.dirname(file), target))
        there = posixpath.relpath(place(named), posixpath.dirname(place(file)) or ".")
        return f"{opening}{there}{anchor}"

    kept = FENCE.findall(text)
    around = FENCE.split(text)
    parts = [LINK.sub(link, part) for part in around]
    kept = [code.replace("```signature\n", "```python\n", 1) for code in kept]
    return "".join(part + code for part, code in zip(parts, [*kept, ""], strict=True))


def toctree(group: Group) -> str:
    """A part of the navigation, as Sphinx wants it."""
    pages = "\n".join(group.pages)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {group.title}\n\n{pages}\n```\n"


DECISIONS = """# Decisions

Each page has the context of a choice, the decision and its consequences.

```{toctree}
:glob:

decisions/*
```
"""


def stage(folder: Path) -> None:
    """Copy every page to the folder, as Sphinx reads it."""
    docs = [path for path in (ROOT / "docs").rglob("*") if path.is_file()]
    for path in [*docs, *(ROOT / name for name in MOVED if "/" not in name)]:
        file = path.relative_to(ROOT).as_posix()
        target = folder / place(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text(relinked(path.read_text(encoding="utf-8"), file), encoding="utf-8")
        else:
            shutil.copyfile(path, target)
    for name, text in reference_pages().items():
        (folder / "reference").mkdir(exist_ok=True)
        (folder / "reference" / name).write_text(text, encoding="utf-8")
    (folder / "decisions.md").write_text(DECISIONS, encoding="utf-8")
    with (folder / "index.md").open("a", encoding="utf-8") as home:
        home.writelines(toctree(group) for group in NAVIGATION)


def build(target: Path) -> int:
    """Make the site in the folder, from nothing. The exit status of Sphinx."""
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        staged = Path(name) / "pages"
        stage(staged)
        command = [sys.executable, "-m", "sphinx", "--builder", "html", "--quiet", "--jobs", "auto"]
        strict = ["--fail-on-warning", "--keep-going"]
        trees = Path(name) / "trees"
        folders: list[str | Path] = ["--conf-dir", HERE, "--doctree-dir", trees, staged, target]
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [*command, *strict, *folders], env={**os.environ, "PYTHONPATH": path}, check=False
        )
    return done.returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("target", type=Path, help="the folder of the site, made anew")
    target = parser.parse_args().target
    status = build(target)
    if status == 0:
        print(f"The site is in {target}: open {target / 'index.html'}")
    sys.exit(status)


if __name__ == "__main__":
    main()
