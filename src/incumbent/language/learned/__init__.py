"""The small model that ships with Incumbent and runs offline."""
