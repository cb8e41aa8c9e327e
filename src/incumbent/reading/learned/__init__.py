"""The model that ships: what it reads, and what it says of it."""
