"""Tenure inside the frameworks that people already use: one module for each, behind an extra."""
