"""Tools that make what ships in the package."""
