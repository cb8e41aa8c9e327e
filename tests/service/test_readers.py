"""A service has its models by organization, from a file."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

import incumbent
from incumbent.http.readers import readers_in
from tests.llm.servers import Trickster, served
from tests.llm.test_http import GOOD, ILL
from tests.patience import eventually
from tests.service.running import a_key, serving

FILE = """\
[acme]
model = "openai:trickster"
base_url = "{address}"
api_key_env = "ACME_KEY"
calls_per_day = 1
pause = 0.5

["*"]
model = "ollama:qwen3"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "readers.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_service_reads_by_organization(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model of an organization reads its turns with its key, and those of no other."""
    monkeypatch.setenv("ACME_KEY", "sk-acme")
    store = str(tmp_path / "facts.db")
    with incumbent.open(store) as memory:
        keys = {name: a_key(memory, organization=name) for name in ("acme", "globex")}
    with served(Trickster(GOOD)) as server:
        path = written(tmp_path, FILE.format(address=server.address).partition('["*"]')[0])
        with serving(store, tmp_path, f"--readers={path}") as service:

            def call(name: str, **asked: str) -> httpx.Response:
                headers = {"Authorization": f"Bearer {keys[name]}"}
                body = {"session": {"user_id": "ann"}, **asked}
                operation = "observe" if "text" in asked else "current"
                url = f"{service.address}/v1/{operation}"
                return httpx.post(url, json=body, headers=headers, trust_env=False)

            assert call("globex", text=ILL).json()["opinion"] is None
            assert call("acme", text=ILL).json()["opinion"]["status"] == "pending"
            eventually(lambda: call("acme", key="allergy").text == '"Peanuts"', pause=0.05)
    assert server.keys == ["Bearer sk-acme"]


def test_each_table_is_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the settings of an LLM, and its key from the environment."""
    monkeypatch.setenv("ACME_KEY", "sk-acme")
    found = readers_in(written(tmp_path, FILE.format(address="http://localhost:1/v1")))
    assert set(found) == {"acme", "*"}
    assert (found["acme"].api_key, found["acme"].calls_per_day) == ("sk-acme", 1)
    assert "sk-acme" not in repr(found)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("acme = 3", "name its model"),
        ("[acme]\nmode = 'inline'", "name its model"),
        ("[acme", "are not TOML"),
        ("[acme]\nmodel = 'openai:x'\napi_key = 'sk-1'", "no key stands in this file"),
        ("[acme]\nmodel = 'openai:x'\napi_key_env = 'NO_SUCH_KEY'", "'NO_SUCH_KEY' is not set"),
        ("[acme]\nmodel = 'openai:x'\nkey = 'sk-1'", "there is no key; there are api_key_env"),
        ("[acme]\nmodel = 'gpt'", '"provider:name"'),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, text: str, told: str) -> None:
    """The message names the file, the table and the fix, and no key."""
    with pytest.raises(incumbent.InvalidInput) as refused:
        readers_in(written(tmp_path, text))
    assert told in str(refused.value)
    assert "readers.toml" in str(refused.value)
    assert "sk-1" not in str(refused.value)


def test_a_file_that_is_missing_is_told(tmp_path: Path) -> None:
    """With its name."""
    with pytest.raises(incumbent.InvalidInput, match=r"nowhere\.toml cannot be read: No such file"):
        readers_in(tmp_path / "nowhere.toml")
