"""A chat loop: what people say becomes state, and a model reads the state, not the transcript.

Put your model where `answer` is; it gets `context.messages()`.

Prints:
    me: I'd like a table for 4 at 5pm on Friday.
    it: - 2026-03-02: I'd like a table for 4 at 5pm on Friday.
    me: No, only 3 people.
    it: - 2026-03-02: I'd like a table for [3] at 5pm on Friday.
    me: What if we came at 7pm?
    it: - 2026-03-02: I'd like a table for [3] at 5pm on Friday.
    me: Make it 7pm, please.
    it: - 2026-03-02: I'd like a table for [3] at [7pm] on Friday.
"""

from datetime import UTC, datetime, timedelta

import incumbent

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def answer(context: incumbent.Context) -> str:
    """Stands for a model, which would be sent `context.messages()`."""
    return " ".join(line.text for line in context.lines if line.section == "Facts")


with incumbent.open(":memory:") as memory:
    ann = memory.session(user_id="ann", organization="acme")
    for number, text in enumerate(
        (
            "I'd like a table for 4 at 5pm on Friday.",
            "No, only 3 people.",
            "What if we came at 7pm?",
            "Make it 7pm, please.",
        )
    ):
        at = START + timedelta(minutes=number)  # when it was sent; left out, it is now
        # A message that is delivered twice counts once.
        ann.observe(text, ref=f"message {number}", at=at)
        reply = answer(ann.context(text, budget=1000))
        ann.observe(reply, speaker="assistant", at=at)
        print(f"me: {text}\nit: {reply}")
