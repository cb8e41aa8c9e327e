"""Dropping in: the words of other memories, and their exports."""
