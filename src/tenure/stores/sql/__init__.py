"""What the SQLite and PostgreSQL stores say alike: rows, conditions and the bodies of methods.

Each database keeps its statements in its own `queries.sql`, in its own dialect and under the names
that are used here. Its folder adds what it does in a way of its own.
"""
