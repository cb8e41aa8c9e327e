"""Composing a context: from a question to its material, found in a store through a lens."""
