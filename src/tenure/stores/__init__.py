"""Where facts are kept: a narrow port, an in-memory reference, SQLite. No policy lives here."""
