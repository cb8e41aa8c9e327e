"""Exports of other memories, read into facts and turns of Incumbent, each with where it came
from."""
