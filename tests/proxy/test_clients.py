"""The proxy under the official clients of OpenAI and Anthropic: only the base URL changes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.conftest import RunningProxy, StartProxy
from tests.proxy.stand_in import StandIn

DEAD, LIVE = "123 Main St", "456 Oak Ave"
FIRST = f"The shipping address is {DEAD}."
SECOND = f"No, the shipping address is {LIVE} now."
QUESTION = "Where do we ship?"
FRAME = "You are a clerk."


class Talk:
    """A conversation that an application keeps, and sends whole every time."""

    def __init__(self, proxy: RunningProxy, api: str, stream: bool, **headers: str) -> None:
        self._proxy = proxy
        self._headers = headers
        self._say = {"chat": self._chat, "responses": self._responses, "messages": self._messages}[
            api
        ]
        self._stream = stream
        self.history: list[Any] = []

    def say(self, text: str) -> str:
        self.history.append({"role": "user", "content": text})
        answer = self._say()
        self.history.append({"role": "assistant", "content": answer})
        return answer

    def _chat(self) -> str:
        asked: Any = {
            "model": "m",
            "messages": [{"role": "system", "content": FRAME}, *self.history],
        }
        client = self._proxy.openai(**self._headers)
        if self._stream:
            chunks = client.chat.completions.create(**asked, stream=True)
            return "".join(one.choices[0].delta.content or "" for one in chunks)
        found = client.chat.completions.create(**asked)
        return str(found.choices[0].message.content)

    def _responses(self) -> str:
        asked: Any = {"model": "m", "input": self.history, "instructions": FRAME}
        client = self._proxy.openai(**self._headers)
        if self._stream:
            with client.responses.stream(**asked) as stream:
                return str(stream.get_final_response().output_text)
        return str(client.responses.create(**asked).output_text)

    def _messages(self) -> str:
        asked: Any = {"model": "m", "max_tokens": 9, "messages": self.history, "system": FRAME}
        client = self._proxy.anthropic(**self._headers)
        if self._stream:
            with client.messages.stream(**asked) as stream:
                return stream.get_final_text()
        return str(client.messages.create(**asked).content[0].text)


APIS = pytest.mark.parametrize("api", ["chat", "responses", "messages"])
BOTH_WAYS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@APIS
@BOTH_WAYS
def test_a_correction_takes_the_dead_value_out_of_the_prompt(
    proxy: RunningProxy, upstream: StandIn, api: str, stream: bool
) -> None:
    """The model gets the live value and not the dead one, and the application notices nothing."""
    upstream.said = [f"So {DEAD} it is.", "Noted.", f"To {LIVE}."]
    talk = Talk(proxy, api, stream)
    assert talk.say(FIRST) == f"So {DEAD} it is."
    assert DEAD in upstream.last.text
    assert talk.say(SECOND) == "Noted."
    assert talk.say(QUESTION) == f"To {LIVE}."
    for sent in upstream.received[1:]:
        assert DEAD not in sent.text
        assert LIVE in sent.text
        assert FRAME in sent.text
    assert proxy.heard(6) == ["user", "assistant"] * 3
    assert DEAD in str(talk.history)
