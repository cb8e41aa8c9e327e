"""The commands of `tenure eval`."""
