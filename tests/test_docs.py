"""The words around the code say what the code does: snippets run, and nothing public is left out.

In README.md and docs/, each file's ```python blocks run in order in one namespace, in an empty
folder. A ```text block after one of them is what it prints, to the byte. In a ```console block
every `$ incumbent ...` line is run, and what is shown below it is compared; there "…" stands for
what differs from run to run, such as an id. On a page about the service, `$ incumbent serve` starts
one, and `$ curl ...` lines ask it. A snippet that names a proxy finds one there, before a stand-in
for a provider. Programs in ```js blocks are run by `tests/integrations/test_vercel_ai.py`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

import incumbent
from incumbent.model import errors
from incumbent.stores import port
from tests.pages import FENCE, PROGRAMS, ROOT, Block, blocks, event_loop, run_snippets
from tests.patience import PATIENCE
from tests.proxy.conftest import RunningProxy
from tests.proxy.stand_in import StandIn
from tests.selection import sampled
from tests.service.running import PLAIN, Process, Running

GENERATED = ROOT / "docs" / "cli.md"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page != GENERATED),
]
SERVED = "http://127.0.0.1:8765"
PROXIED = "http://127.0.0.1:8787"
# The module of each framework whose page has programs with it; elsewhere they cannot run.
FRAMEWORKS = {
    "agent-framework": "agent_framework",
    "agno": "agno",
    "autogen": "autogen_agentchat",
    "claude-agent-sdk": "claude_agent_sdk",
    "crewai": "crewai",
    "google-adk": "google.adk",
    "haystack": "haystack",
    "langchain": "langchain",
    "litellm": "litellm",
    "llama-index": "llama_index.core",
    "openai-agents": "agents",
    "pydantic-ai": "pydantic_ai",
    "smolagents": "smolagents",
    "strands": "strands",
}


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if any(b.language == language for b in blocks(page))]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Where a page's snippets live; memories and clients they leave open are closed afterwards."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "snippets"}
    yield names
    for value in names.values():
        if isinstance(value, incumbent.Memory | openai.OpenAI):
            value.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The address of a service, for snippets that open one."""
    with incumbent.open(tmp_path / "served.db") as memory, Running(memory) as service:
        yield service.address


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[str]:
    """The address of a proxy before a stand-in provider, for snippets that use one."""
    with (
        incumbent.open(tmp_path / "proxied.db") as memory,
        StandIn() as provider,
        RunningProxy(memory, provider.url) as proxy,
    ):
        yield proxy.address


@pytest.mark.parametrize("page", pages_with("python"), ids=name_of)
def test_snippets_print_what_the_page_says(
    page: Path, namespace: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    """Every Python snippet of a page runs, and prints exactly what is shown below it."""
    framework = FRAMEWORKS.get(page.stem) if page.parent.name == "integrations" else None
    if framework is not None:
        pytest.importorskip(framework, reason=f"{page.stem} is not installed: make integrations")

    def replaced(text: str) -> str:
        for address, fixture in ((SERVED, "served"), (PROXIED, "proxied")):
            if address in text:
                text = text.replace(address, request.getfixturevalue(fixture))
        return text

    with event_loop() if framework is not None else contextlib.nullcontext():
        run_snippets(page, namespace, replaced)


def test_the_readme_is_short() -> None:
    """The README says what Incumbent is and how to go on; the rest is in docs/."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 250


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_output_belongs_to_a_snippet(page: Path) -> None:
    """A ```text block follows the program that prints it; other blocks are named for what
    they are, so that no snippet escapes by a misspelt name."""
    known = {"", *PROGRAMS, "console", "signature"}
    assert [f"{b.line}: {b.language}" for b in blocks(page) if b.language not in known] == []


def environment(folder: Path) -> dict[str, str]:
    """The environment of a command in a plain 100-column terminal, with these sources first."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("INCUMBENT_")}
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), kept.get("PYTHONPATH", "")]))
    plain = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    return {**kept, **plain, "PYTHONPATH": path, "HOME": str(folder)}


def run_command(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run an `incumbent ...` line of a page as a shell would, less the shell."""
    arguments = shlex.split(line)
    program = "from incumbent.cli import main; main()"
    variables = {}
    while "=" in arguments[0]:
        name, _, value = arguments.pop(0).partition("=")
        variables[name] = value
    assert arguments.pop(0) == "incumbent", f"only incumbent commands can be checked: {line}"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env={**environment(folder), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=PATIENCE,
    )


def commands(block: Block, ours: str = "incumbent") -> Iterator[tuple[str, str]]:
    """(command, output) pairs of a console block, for the commands that are ours. A line that
    begins with "> " goes on with the command."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        while output.startswith("> "):
            more, _, output = output[2:].partition("\n")
            command = f"{command}\n{more}"
        if re.match(rf"([A-Z_]+=\S+ )*({ours}) ", f"{command} "):
            yield command, output


def matches(shown: str, printed: str) -> bool:
    """Whether the output is as shown, with "…" for anything on one line; line ends trimmed."""
    pattern = "\n".join(
        ".+".join(map(re.escape, line.rstrip().split("…"))) for line in shown.strip().splitlines()
    )
    tidy = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    return re.fullmatch(pattern, tidy) is not None


def speaks_of_a_service(page: Path) -> bool:
    return any(SERVED in block.text for block in blocks(page) if block.language)


SERVICE_PAGES = [page for page in pages_with("console") if speaks_of_a_service(page)]
OTHER_PAGES = [page for page in pages_with("console") if page not in SERVICE_PAGES]


@pytest.mark.parametrize("page", sampled(OTHER_PAGES, every=99), ids=name_of)
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    """Every `$ incumbent ...` line of a page succeeds, and prints what is shown below it."""
    for block in blocks(page):
        for command, shown in commands(block) if block.language == "console" else ():
            done = run_command(command, tmp_path)
            assert done.returncode == 0, f"{page.name}: {command}\n{done.stdout}"
            if shown.strip():
                assert matches(shown, done.stdout), f"{page.name}: {command}\n{done.stdout}"


class Desk:
    """Somebody who follows a page that speaks of a service: starts it, and asks it with curl."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: Process | None = None
        self._key = ""

    def run(self, command: str) -> str:
        """What a command prints."""
        if command.startswith("curl "):
            return self._ask(command)
        if command.startswith("incumbent serve"):
            self.stop()
            options = shlex.split(command)[2:]
            self._process = Process("incumbent.db", self._folder, *options)
            return self._process.announced.replace(self._process.address, SERVED)
        done = run_command(command, self._folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        self._key = next(iter(re.findall(r"incumbent_\w+_[\w-]{43}", done.stdout)), self._key)
        return done.stdout

    def _ask(self, command: str) -> str:
        """What curl would print, of the few options that pages use."""
        assert self._process is not None, "no service yet"
        words = shlex.split(command.replace("$INCUMBENT_KEY", self._key))[1:]
        address, headers, body = "", {}, ""
        while words:
            word = words.pop(0)
            if word == "-H":
                name, _, value = words.pop(0).partition(": ")
                headers[name] = value
            elif word == "-d":
                body = words.pop(0)
            else:
                assert word.startswith(SERVED), f"{word} of {command}"
                address = word.replace(SERVED, self._process.address)
        with httpx.Client(**PLAIN, timeout=PATIENCE) as client:
            return client.post(address, content=body.encode(), headers=headers).text

    def stop(self) -> None:
        if self._process is not None:
            self._process.stop()


@pytest.mark.slow
@pytest.mark.parametrize("page", SERVICE_PAGES, ids=name_of)
def test_a_page_about_the_service_holds(page: Path, tmp_path: Path) -> None:
    """Its commands start real services, its curl lines ask them, and both give what is shown."""
    desk = Desk(tmp_path)
    try:
        for block in blocks(page):
            for command, shown in commands(block, "incumbent|curl") if block.language else ():
                printed = desk.run(command)
                assert matches(shown, printed), f"{page.name}: {command}\n{printed}"
    finally:
        desk.stop()


def headings(page: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)


def glossary_words(section: str) -> set[str]:
    """The words of the list under a heading of the glossary."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    part = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^- [`*]*([^`*:]+)[`*]*: ", part, re.MULTILINE))


@pytest.mark.parametrize(
    ("section", "kind"),
    [
        ("Outcomes", incumbent.Outcome),
        ("Rules", incumbent.Rule),
        ("Statuses", incumbent.Status),
        ("Scopes", incumbent.Scope),
        ("Memory types", incumbent.MemoryType),
    ],
)
def test_the_glossary_has_exactly_the_words_of_the_code(section: str, kind: Any) -> None:
    """Every value of an enumeration has its row in the glossary, and no row is left over."""
    assert glossary_words(section) == {str(member) for member in kind}


def test_the_glossary_has_the_words_of_the_design() -> None:
    """The words that the design fixes are all there."""
    fixed = {
        "organization",
        "identity",
        "fact",
        "address",
        "incumbent",
        "candidate",
        "verdict",
        "chain",
        "repair",
        "contingent fact",
        "working set",
        "environment",
        "context",
        "receipt",
    }
    assert fixed <= glossary_words("Words")


# Of a memory in this process, for parts of Incumbent itself and for its command line.
INSIDE = {"resources", "store", "index", "reader", "progress"}


def public_methods(kind: type) -> list[str]:
    return sorted(
        name
        for name, member in inspect.getmembers(kind)
        if not name.startswith("_") and (callable(member) or isinstance(member, property))
        if name not in INSIDE
    )


@pytest.mark.parametrize(
    "kind", [incumbent.Memory, incumbent.Session], ids=lambda kind: kind.__name__
)
def test_every_public_method_has_its_section(kind: type) -> None:
    """docs/api.md has a heading for every public method of Memory and Session, and no other."""
    prefix = kind.__name__.lower()
    documented = re.findall(rf"`{prefix}\.(\w+)", "\n".join(headings("api.md")))
    assert sorted(documented) == public_methods(kind)


def documented_signatures() -> dict[str, str]:
    """The first block under each heading of docs/api.md that names a call, without spaces."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    found = re.findall(r"^### `([\w.]+)`\n\n```signature\n(.*?)^```$", text, re.M | re.S)
    return {name: re.sub(r"\s+", "", shown) for name, shown in found}


def written_signature(function: Any) -> str:
    """A signature as the page writes it: parameters and defaults, without types."""
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in signature.parameters.items()
        if name != "self"
    ]
    shown = signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    text = re.sub(r"<object object at \w+>", "...", str(shown))
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize(
    "kind", [incumbent.Memory, incumbent.Session], ids=lambda kind: kind.__name__
)
def test_signatures_are_as_documented(kind: type) -> None:
    """The parameters, their order and their defaults in docs/api.md are those of the code."""
    shown = documented_signatures()
    for name in public_methods(kind):
        method = inspect.getattr_static(kind, name)
        if isinstance(method, property):
            continue
        call = f"{kind.__name__.lower()}.{name}"
        assert shown.get(call) == f"{call}{written_signature(method)}"


def test_the_signature_of_open_is_as_documented() -> None:
    """The same for the function that everything starts with."""
    assert (
        documented_signatures()["incumbent.open"]
        == f"incumbent.open{written_signature(incumbent.open)}"
    )


def test_every_setting_is_documented_with_its_default() -> None:
    """docs/api.md has a line for every field of Settings, with the default it really has."""
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    text = page.partition("\n## Settings\n")[2]
    rows = dict(re.findall(r"^- `(\w+)` \(`([^`]+)`\): ", text, re.MULTILINE))
    defaults = incumbent.Settings()
    expected = {
        field.name: "Ladder()"
        if field.name == "ladder"
        else repr(getattr(defaults, field.name)).replace("datetime.", "")
        for field in dataclasses.fields(incumbent.Settings)
    }
    assert rows == expected


def test_every_error_is_documented() -> None:
    """docs/errors.md names every error and warning that Incumbent has, and no other."""
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    classes = {
        name
        for name, member in vars(errors).items()
        if inspect.isclass(member) and issubclass(member, Exception)
    }
    assert set(re.findall(r"^- `(\w+)`: ", text, re.MULTILINE)) == classes


def test_every_operation_of_the_port_is_named() -> None:
    """docs/stores.md names every operation that a backend has to implement, and no other."""
    text = (ROOT / "docs" / "stores.md").read_text(encoding="utf-8")
    table = text.partition("| part | operations |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`([a-z_]+)`", table))
    asked = {
        name
        for protocol in (port.Store, port.Reader, port.Transaction)
        for name, _ in inspect.getmembers(protocol, inspect.isfunction)
        if not name.startswith("_")
    }
    assert named == asked


@pytest.mark.parametrize("page", [*PAGES, GENERATED, ROOT / "CHANGELOG.md"], ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page names a file of the repository, and every anchor a heading."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{page.name} links to {target}"
        if anchor:
            linked = FENCE.sub("", file.read_text(encoding="utf-8"))
            titles = re.findall(r"^#+ (.*)$", linked, re.MULTILINE)
            assert anchor in map(_anchor, titles), f"{page.name} links to {target}"


def test_contributing_names_files_that_exist() -> None:
    """The paths that CONTRIBUTING.md gives, from the root or inside the package, are there."""
    text = FENCE.sub("", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    named = set(re.findall(r"`((?:[\w.]+/)+[\w.]+)`", text))
    assert len(named) > 10
    roots = (ROOT, ROOT / "src" / "incumbent")
    assert [name for name in named if not any((root / name).exists() for root in roots)] == []


def test_the_security_page_names_tests_that_exist() -> None:
    """Every line of the threat model is shown by a test that is there."""
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    defended = text.partition("## What is defended")[2].partition("\n## ")[0]
    lines = [line.partition(": `tests/") for line in re.findall(r"^- (.*)$", defended, re.M)]
    assert all(shown for _, _, shown in lines)
    assert len(lines) > 25
    for told, mark, rest in lines:
        shown = mark + rest
        named = re.findall(r"`(tests/[\w/]+\.py)((?:::\w+)*)`", shown)
        assert len(named) == shown.count("`tests/"), told
        for file, names in named:
            code = (ROOT / file).read_text(encoding="utf-8")
            for name in filter(None, names.split("::")):
                there = re.search(rf"^ *(?:def|class) {name}\b", code, re.MULTILINE)
                assert there, f"{file} has no {name}"


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def test_every_decision_is_listed() -> None:
    """docs/index.md links every page of docs; each decision has a number of its own."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = sorted(page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md"))
    missing = [str(page) for page in pages if f"({page})" not in index]
    assert missing in ([], ["index.md"])
    for page in (ROOT / "docs" / "decisions").glob("*.md"):
        number = page.name[:4]
        assert index.count(f"[{number}](decisions/") == 1
        assert page.read_text(encoding="utf-8").startswith(f"# {int(number)}. ")


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "decisions").glob("*.md")), ids=lambda page: page.stem
)
def test_a_decision_says_why_and_what_follows(page: Path) -> None:
    """Every decision has its context, the decision and its consequences, in that order."""
    titles = re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert titles == ["Context", "Decision", "Consequences"]
