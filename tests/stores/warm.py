"""What a first write loads, loaded once by the server that processes are forked from."""

import os

# One thread, so that forking is safe: set before numpy is there to be asked for more.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import incumbent

with incumbent.open(":memory:", settings=incumbent.Settings(embedder="static")) as memory:
    session = memory.session(user_id="somebody")
    session.write("anything", "at 5 pm")
    session.context("anything")
