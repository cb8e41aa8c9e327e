"""Conversations as people write them, with the state that they come to.

`format` reads the files, `endings` says which values hold in the end, `play` feeds a conversation
to a memory and asks its questions, `report` adds up what came of a file. `pairs` makes pairs to
learn from.
"""
