"""The learned detector: a small model that ships with Incumbent and runs offline."""
