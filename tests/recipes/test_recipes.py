"""Recipes: whole programs in examples/, what they print, and the page that walks through them."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import incumbent
from tests.pages import ROOT, blocks

PRINTED = Path(__file__).parent
NAMES = sorted(path.stem for path in PRINTED.glob("*.txt"))
PAGE = ROOT / "docs" / "recipes.md"
READ_BY_TOM = "nora as read by tom (nora)"
UPDATE = os.environ.get("INCUMBENT_UPDATE_GOLDEN") == "1"


def source_of(name: str) -> str:
    return (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")


@cache
def printed(name: str) -> str:
    """What a recipe prints, in a process of its own that knows of no key."""
    kept = {key: value for key, value in os.environ.items() if not key.endswith("_KEY")}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / f"{name}.py")],
        env={
            **kept,
            "PYTHONPATH": str(Path(incumbent.__file__).parents[1]),
            "PYTHONIOENCODING": "utf-8",
        },
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def contexts(name: str) -> dict[str, str]:
    """The contexts that a recipe prints, each by the user whom it names."""
    texts = printed(name).split("# Identity\n")[1:]
    return {text.split("\n")[0].removeprefix("User: "): text for text in texts}


def section(context: str, heading: str) -> str:
    """The lines under a heading, or none."""
    return context.partition(f"# {heading}")[2].partition("\n\n")[0]


def test_every_example_is_a_recipe_or_says_what_it_prints() -> None:
    """So that none goes unchecked."""
    others = {
        path.stem
        for path in (ROOT / "examples").glob("*.py")
        if "Prints:\n" not in path.read_text(encoding="utf-8")
    }
    assert others == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_prints_what_was_read_and_found_good(name: str) -> None:
    """The same bytes in every process; INCUMBENT_UPDATE_GOLDEN=1 writes them anew."""
    path = PRINTED / f"{name}.txt"
    if UPDATE:
        path.write_bytes(printed(name).encode())
    assert path.read_bytes().decode() == printed(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_is_short(name: str) -> None:
    """It is there to be copied."""
    assert len(source_of(name).splitlines()) <= 120


def test_the_page_names_every_example() -> None:
    """Nobody has to look for one in the folder."""
    there = {path.name for path in (ROOT / "examples").glob("*.py")}
    named = re.findall(r"`examples/(\w+\.py)`", PAGE.read_text(encoding="utf-8"))
    assert sorted(named) == sorted(there)


@pytest.mark.parametrize("name", ["support_desk"])
def test_the_page_has_the_whole_recipe(name: str) -> None:
    """Its blocks under the recipe's heading are the program, and what it prints."""
    text = PAGE.read_text(encoding="utf-8")
    part = text.partition(f"\n## A {name.replace('_', ' ')}\n")[2].partition("\n## ")[0]
    shown = [one for one in blocks(PAGE) if one.language == "python" and one.text in part]
    docstring = ast.get_docstring(ast.parse(source_of(name)), clean=False)
    program = source_of(name).replace(f'"""{docstring}"""', "")
    assert lines(*(one.text for one in shown)) == lines(program)
    assert "".join(one.promised or "" for one in shown) == printed(name)


def lines(*texts: str) -> list[str]:
    """The lines of texts that are not blank."""
    return [line for text in texts for line in text.splitlines() if line.strip()]


class TestASupportDesk:
    """Who sees what, and whose word counts."""

    def test_a_customer_sees_no_other_customers_facts(self) -> None:
        """Though both write to the same company."""
        omar, nora = contexts("support_desk")["omar"], contexts("support_desk")["nora"]
        for hers in ("4711", "12 Mill Lane", "Harbor", "40 EUR", "80 EUR", "complaint"):
            assert hers not in omar
        assert "9000" not in nora
        assert "555-0100" not in nora

    def test_a_customer_sees_nothing_that_is_for_staff(self) -> None:
        """Neither notes nor policies of theirs; staff see both."""
        nora, tom = contexts("support_desk")["nora"], contexts("support_desk")[READ_BY_TOM]
        for theirs in ("Her third complaint", "goodwill_policy"):
            assert theirs not in nora
            assert theirs in tom

    def test_staff_see_what_the_customer_said_by_the_right(self) -> None:
        """And nothing without it."""
        tom = section(contexts("support_desk")[READ_BY_TOM], "Facts")
        assert "My order 4711 came with a broken lamp." in tom
        assert "3 Harbor Street" in tom
        assert printed("support_desk").endswith("northwind gave tom no right to read files\n")

    def test_a_customer_sees_what_was_promised_and_by_whom(self) -> None:
        """As it was said, and as it stands."""
        nora = contexts("support_desk")["nora"]
        assert "- 2026-03-02, tom: You will get 40 EUR back by Friday." in nora
        assert "refund (order 4711): 40 EUR, promised by 6 March" in nora

    def test_a_policy_binds_customers_and_staff(self) -> None:
        """It stands among the constraints of each."""
        for context in contexts("support_desk").values():
            assert "refund_policy: Above 100 EUR" in section(context, "Constraints")

    def test_a_customer_is_a_guest_whose_word_retires_nothing_of_ours(self) -> None:
        """Neither a promise nor a policy; the customer's own words are shown as such."""
        assert printed("support_desk").startswith(
            "refund: overruled (authority)\nrefund_policy: overruled (authority)\n"
        )
        nora = contexts("support_desk")["nora"]
        assert "Authority: customer (guest)\n" in nora
        assert "refund (order 4711): 80 EUR" not in nora
        assert "- 2026-03-03: You promised 80 EUR!" in nora


class TestACodingAssistant:
    """What holds for whom."""

    def test_what_was_replaced_is_gone(self) -> None:
        """In what was said, and in what was concluded from it."""
        ann = contexts("coding_assistant")["ann"]
        assert "We deploy with Fabric" not in ann
        assert "Fabric to Kubernetes" in ann
        assert "3.11" not in ann
        assert "base_image: not known, recalculate, because python changed (now 3.13)" in ann

    def test_what_was_asked_for_once_and_for_all_stands(self) -> None:
        """In another chat, on a task."""
        standing = section(contexts("coding_assistant")["ann"], "Standing instructions")
        assert "Always answer with a diff." in standing
        assert "Please don't touch the migrations folder." in standing

    def test_another_developer_has_what_is_everybodys_alone(self) -> None:
        """Policies, files, what was learned; nothing that one developer said."""
        bob = contexts("coding_assistant")["bob"]
        for ours in ("dependency_policy", "python: 3.13", "flaky_test"):
            assert ours in bob
        for hers in ("diff", "migrations", "Kubernetes", "test_command"):
            assert hers not in bob


class TestAPersonalAssistant:
    """One person, many days."""

    def test_what_must_not_be_missing_is_in_every_context(self) -> None:
        """Whatever is asked, and whatever was said since."""
        every = printed("personal_assistant").split("# Identity\n")[1:]
        assert len(every) == 2
        for context in every:
            assert "allergy: peanuts" in section(context, "Constraints")
            assert "allergy: shellfish" in section(context, "Constraints")

    def test_what_is_over_or_forgotten_or_only_wondered_about_is_nowhere(self) -> None:
        """The old home, the code of the door, a Saturday; and Paris, once Thursday is over."""
        every = printed("personal_assistant").split("# Identity\n")[1:]
        for context in every:
            assert "home: Lille" in context
            for gone in ("Lyon", "4711", "Saturday"):
                assert gone not in context
        assert "Paris" in every[0]
        assert "Paris" not in every[1]

    def test_what_a_correction_leaves_open_is_told_as_open(self) -> None:
        """The table for four, beside the three; the reference is not lost with it."""
        friday = printed("personal_assistant").split("# Identity\n")[2]
        assert "a table for 4" in section(friday, "Possibly outdated")
        assert "only 3 people" in section(friday, "Facts")
        assert "The reference is K7." in section(friday, "Said")
