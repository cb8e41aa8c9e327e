"""What a first write loads, loaded once by the server that processes are forked from."""

import os

# One thread, so that forking is safe: set before numpy is there to be asked for more.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tenure.context.tokens import counter
from tenure.search.embedders import load
from tenure.settings import Settings

load("static")
counter(Settings().tokenizer)
