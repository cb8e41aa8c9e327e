"""The documentation site: every page has its place in it, and links lead where they did."""

from __future__ import annotations

import pytest

import incumbent
from tests.pages import ROOT
from tools.site.build import MOVED, place, relinked
from tools.site.navigation import NAVIGATION
from tools.site.reference import grouped


def test_the_navigation_has_every_page_once() -> None:
    """A page in docs/ is in the navigation of the site, and nothing else is. The decisions have a
    page of their own, which lists them, and the README is the home page."""
    listed = [page for group in NAVIGATION for page in group.pages]
    pages_there = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "integrations").glob("*.md")]
    docs = {place(path.relative_to(ROOT).as_posix()) for path in pages_there}
    moved = {name for name in MOVED.values() if name.endswith(".md")}
    pages = {name.removesuffix(".md") for name in docs | moved} - {"index"}
    assert sorted(listed) == sorted({*pages, "decisions", "reference/index"})


@pytest.mark.parametrize(
    ("file", "link", "there"),
    [
        ("README.md", "docs/concepts.md#undo", "concepts.md#undo"),
        ("README.md", "docs/index.md#decisions", "contents.md#decisions"),
        ("README.md", "docs/images/how-it-works.svg", "images/how-it-works.svg"),
        ("README.md", "LICENSE", "LICENSE.txt"),
        ("CONTRIBUTING.md", "docs/decisions/0027-migrations.md", "decisions/0027-migrations.md"),
        ("docs/index.md", "../CONTRIBUTING.md", "contributing.md"),
        ("docs/index.md", "../README.md", "index.md"),
        ("docs/context.md", "concepts.md", "concepts.md"),
        ("docs/context.md", "#the-guard", "#the-guard"),
        ("docs/decisions/0017-ranking.md", "../evaluation.md", "../evaluation.md"),
        ("docs/mcp.md", "https://modelcontextprotocol.io", "https://modelcontextprotocol.io"),
    ],
)
def test_links_are_set_right(file: str, link: str, there: str) -> None:
    """A link of a page leads to the same page in the site."""
    assert relinked(f"See [it]({link}).", file) == f"See [it]({there})."


def test_code_stays_as_it_is() -> None:
    """Links are set right in sentences and not in code."""
    code = "```python\nprint('[it](docs/concepts.md)')\n```"
    assert relinked(f"[it](docs/api.md)\n\n{code}\n", "README.md") == f"[it](api.md)\n\n{code}\n"


def test_the_reference_has_every_public_name_once() -> None:
    """Every name that `incumbent` offers is on one page of the reference."""
    names = [name for page in grouped().values() for name in page.names]
    assert sorted([*names, "__version__"]) == sorted(incumbent.__all__)
