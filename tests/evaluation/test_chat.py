"""A model asked in plain text over real HTTP: answers are kept, and what goes wrong is told."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent.model.errors import InvalidInput
from incumbent_eval.chat import AnsweringModel, KeptAnswers, ModelQuestion, NoAnswer, Reply
from tests.llm.servers import Trickster, completion, served

pytest.importorskip("openai")

KEY = "sk-very-secret"
ASKED = ModelQuestion("Where do we moor?", system="Be brief.", max_tokens=300, seed=4)
SKAGEN = completion("At Skagen.")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name in ("OPENAI_BASE_URL", "OLLAMA_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def model(address: str, answers: KeptAnswers | None = None, **options: Any) -> AnsweringModel:
    given = {"timeout": 10.0, "retries": 0, **options}
    return AnsweringModel(incumbent.LLM("vllm:deckhand", base_url=address, **given), answers)


def failure(address: str, **options: Any) -> str:
    with pytest.raises(NoAnswer) as failed:
        model(address, **options).ask(ASKED)
    assert KEY not in str(failed.value)
    assert "moor" not in str(failed.value)
    return str(failed.value)


class TestAsking:
    def test_a_question_goes_out_with_its_instructions_limit_and_seed(self) -> None:
        """And with the key; what comes back is the text and what it took."""
        with served(Trickster(SKAGEN)) as server:
            asked = model(server.address)
            assert asked.ask(ASKED) == Reply("At Skagen.", tokens=730)
        [body] = server.bodies
        assert body["messages"] == [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Where do we moor?"},
        ]
        assert (body["model"], body["max_tokens"], body["seed"]) == ("deckhand", 300, 4)
        assert server.keys == [f"Bearer {KEY}"]
        assert (asked.calls, asked.found, asked.tokens) == (1, 0, 730)

    def test_what_is_not_said_is_not_sent(self) -> None:
        """No instructions, no seed: none in the request."""
        with served(Trickster(SKAGEN)) as server:
            model(server.address).ask(ModelQuestion("Where?"))
        [body] = server.bodies
        assert [message["role"] for message in body["messages"]] == ["user"]
        assert "seed" not in body

    def test_a_busy_server_is_asked_again(self) -> None:
        """Too many requests and a broken server pass; the answer counts once."""
        with served(Trickster((429, b"{}"), (500, b"boom"), SKAGEN)) as server:
            asked = model(server.address, retries=2)
            assert asked.ask(ASKED).text == "At Skagen."
        assert (len(server.bodies), asked.calls) == (3, 1)

    def test_it_is_asked_again_so_often_and_no_more(self) -> None:
        """Then it has given no answer, and the message says what to do."""
        with served(Trickster((429, b"{}"))) as server:
            told = failure(server.address, retries=1)
        assert len(server.bodies) == 2
        assert told.startswith(f"vllm:deckhand at {server.address} gave no answer")
        assert "status 429; ask fewer at a time" in told

    @pytest.mark.parametrize(
        ("reply", "why"),
        [
            ((401, b'{"error": {"message": "bad key sk-very-secret"}}'), "key in OPENAI_API_KEY"),
            ((404, b"{}"), "check the name of the model"),
            ((503, b"{}"), "status 503"),
            ((200, b"<html>gateway</html>"), "no answer"),
            ((200, b"{}"), "no chat completion"),
            ((200, b'{"choices": []}'), "no chat completion"),
        ],
    )
    def test_a_server_that_is_wrong_is_told_of(self, reply: Any, why: str) -> None:
        """In one line, without the key or the question."""
        with served(Trickster(reply)) as server:
            assert why in failure(server.address)

    def test_a_server_that_is_gone_or_hangs_is_told_of(self) -> None:
        """It could not be reached; it took too long."""
        release = threading.Event()

        def hang() -> tuple[int, bytes]:
            release.wait(60)
            return SKAGEN

        with served(Trickster(hang)) as server:
            assert "within 0.3 s" in failure(server.address, timeout=0.3)
            release.set()
        assert "could not be reached; check the address" in failure(server.address)

    def test_a_question_that_is_not_taken_is_no_end(self) -> None:
        """A prompt that is too long concerns that prompt; at the beginning it concerns all."""
        with served(Trickster((400, b"{}"))) as server:
            kept = KeptAnswers()
            assert model(server.address, kept).ask(ASKED) == Reply("", refused="status 400")
            assert len(kept) == 0
            with pytest.raises(NoAnswer, match=r"takes no question .*status 400"):
                model(server.address).try_out()

    def test_the_same_question_at_the_same_time_goes_out_once(self) -> None:
        """The others wait for its answer."""
        with served(Trickster(SKAGEN)) as server, ThreadPoolExecutor(8) as pool:
            asked = model(server.address)
            replies = list(pool.map(asked.ask, [ASKED] * 8))
        assert {reply.text for reply in replies} == {"At Skagen."}
        assert (len(server.bodies), asked.calls, asked.found) == (1, 1, 7)

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("vllm:deckhand", "needs the address"),
            ("anthropic:deckhand", "needs the address"),
            ("openai:deckhand", "put it into OPENAI_API_KEY"),
        ],
    )
    def test_a_model_that_cannot_be_asked_is_refused_at_once(
        self, monkeypatch: pytest.MonkeyPatch, name: str, why: str
    ) -> None:
        """Nothing goes out; the message names what is missing."""
        monkeypatch.delenv("OPENAI_API_KEY")
        with pytest.raises(NoAnswer, match=why):
            AnsweringModel(incumbent.LLM(name))

    def test_a_provider_has_its_own_address_and_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """As its variables say."""
        with served(Trickster(SKAGEN)) as server:
            monkeypatch.setenv("OLLAMA_BASE_URL", server.address)
            monkeypatch.setenv("OLLAMA_API_KEY", "other")
            assert AnsweringModel(incumbent.LLM("ollama:deckhand")).ask(ASKED).text == "At Skagen."
        assert server.keys == ["Bearer other"]


class TestAnswers:
    def test_are_kept_and_not_asked_for_again(self, tmp_path: Path) -> None:
        """By another process later, too; another seed or model is another question."""
        path = tmp_path / "answers.jsonl"
        with served(Trickster(SKAGEN)) as server:
            for _ in range(2):
                kept = KeptAnswers(path)
                assert model(server.address, kept).ask(ASKED).text == "At Skagen."
                kept.close()
            assert len(server.bodies) == 1
            kept = KeptAnswers(path)
            model(server.address, kept).ask(ModelQuestion(ASKED.prompt, ASKED.system, 300, seed=5))
            AnsweringModel(incumbent.LLM("vllm:other", base_url=server.address), kept).ask(ASKED)
            kept.close()
        assert len(server.bodies) == len(kept) == 3
        assert "moor" not in path.read_text(encoding="utf-8")

    def test_a_line_that_was_cut_off_is_asked_for_again(self, tmp_path: Path) -> None:
        """A run that was killed while it wrote leaves a file that can be used."""
        path = tmp_path / "answers.jsonl"
        kept = KeptAnswers(path)
        for name in ("one", "two"):
            kept.keep(name, Reply(name))
        kept.close()
        whole = path.read_bytes()
        path.write_bytes(whole[:-9])
        again = KeptAnswers(path)
        assert (again.find("one"), again.find("two")) == (Reply("one"), None)
        again.keep("two", Reply("two"))
        again.close()
        assert path.read_bytes() == whole

    @pytest.mark.parametrize("content", ["notes", "notes\nmore\n", '{"a": 1}\n', "[]\n"])
    def test_a_file_of_something_else_is_refused_and_left_alone(
        self, tmp_path: Path, content: str
    ) -> None:
        """Nobody loses a file by naming the wrong one."""
        path = tmp_path / "notes.txt"
        path.write_text(content, encoding="utf-8")
        with pytest.raises(InvalidInput, match="is no file of answers"):
            KeptAnswers(path)
        assert path.read_text(encoding="utf-8") == content

    def test_a_line_that_is_no_answer_is_refused(self, tmp_path: Path) -> None:
        """Also where the file begins as it should."""
        path = tmp_path / "answers.jsonl"
        KeptAnswers(path).close()
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": "one", "colour": "red"}) + "\n")
        with pytest.raises(InvalidInput, match="is no file of answers"):
            KeptAnswers(path)

    def test_a_folder_that_is_not_there_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="cannot be written"):
            KeptAnswers(tmp_path / "none" / "answers.jsonl")
