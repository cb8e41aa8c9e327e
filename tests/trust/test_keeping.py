"""Nothing that holds people's words is kept in memory outside the place that an erasure empties."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

import pytest

import incumbent
from incumbent.model import text_cache
from incumbent.model.text_cache import forget_texts, when_forgetting
from incumbent.model.text_cache import remembering as kept_until_forgotten
from tests.conftest import QUICK

PACKAGE = Path(incumbent.__file__).parent
_KEEPING = {"lru_cache", "cache", "cached_property"}
_HOLDERS = {"dict", "list", "set", "OrderedDict", "defaultdict", "deque", "Counter", "WeakSet"}
_KEEPERS = {"Sheets"}  # classes of ours that keep something for as long as there is one of them

_DATA = "keyed by a language; made of the data files that come with it"
_CODE = "keyed by parts of the program; made of them and of files that come with it"
_CALL = "an object of one call, gone with it"
# Everything that keeps something and is not emptied by an erasure, with the reason why it need not.
ALLOWED = {
    "model/text_cache.py:remembering": "this is the place",
    "model/text_cache.py:_caches": "this is the place",
    "model/text_cache.py:_others": "this is the place",
    "model/times.py:_last": "one moment, which says nothing",
    "model/ids.py:_start": "moments, which say nothing",
    "stores/postgres/sql.py:_templates": _CODE,
    "stores/postgres/sql.py:statement": _CODE,
    "stores/postgres/sql.py:migrations": _CODE,
    "stores/postgres/administration.py:_statements": _CODE,
    "stores/postgres/connections.py:_LEFT_TO_PARENTS": "connections of a process that forked",
    "stores/sqlite/sql.py:probes": _CODE,
    "stores/sqlite/sql.py:_templates": _CODE,
    "stores/sqlite/sql.py:statement": _CODE,
    "stores/sqlite/sql.py:inserting": "keyed by which columns are written down",
    "stores/sql/dialect.py:_selected": "keyed by how many conditions there are",
    "stores/sql/rows.py:_facts": "emptied by _forget_rows",
    "stores/sql/rows.py:_last_source": "emptied by _forget_rows",
    "engine/candidates.py:_last": "emptied by _forget_source",
    "search/analysis.py:_stemmer": "one stemmer, told to keep nothing itself",
    "search/analysis.py:_vocabulary": _DATA,
    "search/analysis.py:_KNOWN": "emptied: handed to also_forget",
    "search/embedders/words.py:vocabulary": _DATA,
    "search/moment.py:ShelfMoment": _CALL,
    "context/roll.py:Roll": _CALL,
    "reading/comparing.py:Token": _CALL,
    "search/embedders/__init__.py:_loaded": "the models that come with it",
    "reading/learned/model.py:_loaded": "the model that comes with it",
    "language/values/names.py:name_test": "keyed by a language; keeps words in remembering",
    "reading/asked/prompting.py:prompt": _CODE,
    "reading/asked/grounds.py:Grounds": _CALL,
    "reading/asked/grounds.py:_openers": "what ships with the package",
    "context/tokens.py:counter": "the counters, each of which keeps through remembering",
    "http/operations.py:request_form": _CODE,
    "http/openapi.py:document": _CODE,
    "inspector/rendering.py:static": _CODE,
    "inspector/rendering.py:_version_of": _CODE,
    "inspector/rendering.py:_environment": _CODE,
    "inspector/story.py:finder": _CALL,
    "inspector/views/conversations.py:_conversation": _CALL,
    "inspector/views/now.py:_Asked": _CALL,
    "inspector/visit.py:Visit": _CALL,
    "cli/declaring.py:_COMMANDS": _CODE,
    "cli/declaring.py:_OPTIONS": _CODE,
    "cli/declaring.py:_fields_of": _CODE,
    "cli/root.py:_loaded": _CODE,
    "mcp/server.py:_listed": _CODE,
    "client/encoding.py:arguments_of": _CODE,
    "client/encoding.py:adapter": _CODE,
    "operations.py:hints_of": _CODE,
    "operations.py:parameters_of": _CODE,
    "resources.py:Resources": "the index, which is emptied, and the reader",
    "context/document.py:Context": "the caller's own",
    "language/values/sentence.py:Sentence": _CALL,
    "language/voice.py:Voice": _CALL,
    "engine/lens.py:Lens": _CALL,
    "composing/inquiry.py:Inquiry": _CALL,
    "composing/dead_values.py:DeadValueFinder": _CALL,
    "composing/material.py:MaterialBuilder": _CALL,
    "composing/sheets.py:SHEETS": "emptied: registers with when_forgetting",
    "composing/time_words.py:_may_say": _DATA,
    "composing/working_set.py:_desk_words": _DATA,
}
_BY_LANGUAGE = {"language", "reading", "turns"}


def kept_in(path: Path) -> Iterator[tuple[str, str]]:
    """(name, how) of everything in a module that outlives a call and could keep something."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    keeping = set(imported_from_functools(tree))
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in keeping:
            yield outermost(node), ast.unparse(node)
        elif isinstance(node, ast.Global):
            yield from ((name, "global") for name in node.names)
    for node in (*tree.body, *(one for made in classes.values() for one in made.body)):
        if isinstance(node, ast.Assign | ast.AnnAssign) and holds(node.value, classes):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((target.id, "holder") for target in targets if isinstance(target, ast.Name))


def imported_from_functools(tree: ast.Module) -> Iterator[str]:
    """What the makers of caches are called in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "functools":
            yield from (one.asname or one.name for one in node.names if one.name in _KEEPING)
        elif isinstance(node, ast.Import):
            called = [one.asname or one.name for one in node.names if one.name == "functools"]
            yield from (f"{module}.{name}" for module in called for name in _KEEPING)


def outermost(node: ast.AST) -> str:
    """The function, class or variable of a module that something stands in."""
    while not isinstance(getattr(node, "parent", None), ast.Module):
        node = node.parent  # type: ignore[attr-defined]
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", node)
    return str(getattr(target, "name", None) or getattr(target, "id", "?"))


def holds(value: ast.expr | None, classes: dict[str, ast.ClassDef]) -> bool:
    """Whether a value is an empty container, to be filled while the program runs, or a keeper."""
    if isinstance(value, ast.Dict):
        return not value.keys
    if isinstance(value, ast.List):
        return not value.elts
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return False
    if value.func.id in _KEEPERS:
        return True
    made = classes.get(value.func.id)
    bases = [] if made is None else [ast.unparse(base).partition("[")[0] for base in made.bases]
    return not value.args and bool(_HOLDERS & {value.func.id, *bases})


def test_whatever_keeps_something_is_known_and_says_why_it_may() -> None:
    """Caches and containers of modules, in all of the package: a new one keeps through
    `incumbent.model.text_cache`, or is entered above with a reason."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE)
        if inside.parts[0] in ("evaluation", "testing"):
            continue  # works on conversations that are made up, in a process of its own
        for name, how in kept_in(path):
            found[f"{inside.as_posix()}:{name}"] = how
    by_language = {name for name in found if is_of_a_language(name)}
    assert found.keys() - ALLOWED.keys() - by_language == set()
    assert ALLOWED.keys() - found.keys() == set(), "no longer there"


def is_of_a_language(name: str) -> bool:
    """Whether a cached function takes nothing but the name of a language."""
    place, _, function = name.partition(":")
    if place.split("/")[0] not in _BY_LANGUAGE:
        return False
    for node in ast.parse((PACKAGE / place).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            taken = [one.arg for one in node.args.args]
            kept_inside = any(isinstance(one, ast.FunctionDef) for one in node.body)
            return taken in (["language"], ["name", "language"]) and not kept_inside
    return False


class TestForgetting:
    """What an erasure does to what a process keeps."""

    def test_every_cache_is_emptied(self) -> None:
        """Those of modules and those of objects; one of an object that is gone is no trouble."""

        class Keeper:
            def __init__(self) -> None:
                self.read = kept_until_forgotten(9)(self.look)
                self.told: list[str] = []
                when_forgetting(self.forget)

            def look(self, text: str) -> str:
                return text.upper()

            def forget(self) -> None:
                self.told.clear()

        keeper, gone = Keeper(), Keeper()
        for one in (keeper, gone):
            one.told.append(one.read("secret"))
        del gone
        gc.collect()
        info: Any = keeper.read
        assert info.cache_info().currsize == 1
        forget_texts()
        assert info.cache_info().currsize == 0
        assert keeper.told == []

    @pytest.mark.parametrize("spoken", [True, False], ids=["by a turn", "by a call"])
    def test_no_word_of_an_erased_fact_is_left_in_the_process(
        self, tmp_path: Path, spoken: bool
    ) -> None:
        """After it was read, framed, compared, searched for, shown, counted in tokens and erased,
        nothing but this test still has the word."""
        secret = "".join(reversed("ibbewroxog"))
        with incumbent.open(tmp_path / "agent.db", settings=QUICK) as memory:
            ann = memory.session(user_id="ann", organization="acme", session_id="s")
            ann.observe(f"My dentist is Dr. {secret.title()}.")
            ann.observe(f"The dentist appointment with Dr. {secret.title()} is on Friday.")
            ann.write(f"{secret}_note", f"{secret} is kind", subject=secret)
            ann.context(f"Who is {secret}?", style="annotated", history=True)
            assert holders(secret)
            if spoken:
                assert ann.observe("Please delete my dentist from your memory.").erasures
                memory.forget(organization="acme", subject=secret)
                found = [one.id for one in ann.facts() if secret in str(one.value).lower()]
                for fact_id in found:
                    memory.forget(organization="acme", fact_id=fact_id)
            else:
                memory.forget(organization="acme", user_id="ann")
            for cache in text_cache._caches:
                known: Any = cache()
                assert known is None or known.cache_info().currsize == 0, known
            assert holders(secret) == []


def holders(word: str) -> list[str]:
    """What in this process has a text with a word in it, but for what runs just now."""
    gc.collect()
    found: list[str] = []
    for one in gc.get_objects():
        if isinstance(one, FrameType | FunctionType):
            continue
        found += [
            f"{type(one).__name__}: {held[:60]}"
            for held in gc.get_referents(one)
            if isinstance(held, str) and held is not word and word in held.lower()
        ]
    return found
