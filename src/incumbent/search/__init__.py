"""Search: terms and meanings of facts, kept in an index by their readers."""
