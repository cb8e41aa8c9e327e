"""Observing: a turn of conversation goes in; facts, verdicts and a note on the desk come out."""
