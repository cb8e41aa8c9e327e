"""A chat loop: what people say becomes state, and a model reads the state, not the transcript.

Put your model where `answer` is; it gets `context.messages()`.

Prints:
    me: I'd like a table for 4 at 5pm on Friday.
    it: - said: I'd like a table for 4 at 5pm on Friday.
    me: No, only 3 people.
    it: - said: I'd like a table for 3 at 5pm on Friday.
    me: What if we came at 7pm?
    it: - said: I'd like a table for 3 at 5pm on Friday.
    me: Make it 7pm, please.
    it: - said: I'd like a table for 3 at 7pm on Friday.
"""

import tenure


def answer(context: tenure.Context) -> str:
    """Stands for a model, which would be sent `context.messages()`."""
    return " ".join(line.text for line in context.lines if line.section == "Facts")


with tenure.open(":memory:") as memory:
    ann = memory.session(user_id="ann", organization="acme")
    for number, text in enumerate(
        (
            "I'd like a table for 4 at 5pm on Friday.",
            "No, only 3 people.",
            "What if we came at 7pm?",
            "Make it 7pm, please.",
        )
    ):
        ann.observe(text, ref=f"message {number}")  # a message that is delivered twice counts once
        reply = answer(ann.context(text, budget=1000))
        ann.observe(reply, speaker="assistant")
        print(f"me: {text}\nit: {reply}")
