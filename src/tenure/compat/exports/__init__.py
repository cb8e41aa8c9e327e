"""Exports of other memories, read into facts and turns of Tenure, each with where it came from."""
