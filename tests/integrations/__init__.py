"""Incumbent inside the frameworks that people already use."""
