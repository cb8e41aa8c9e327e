"""Rereading: a user's model reads turns again, and that takes the place of the first reading."""
