"""Stores of facts: a narrow port, an in-memory reference, SQLite, PostgreSQL. No policy lives
here."""
