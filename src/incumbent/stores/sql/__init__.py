"""The common part of the SQLite and PostgreSQL stores: rows, conditions and the bodies of methods.

Each database keeps its statements in its own `queries.sql`, in its own dialect and under the names
that are used here. Its folder adds the parts that differ.
"""
