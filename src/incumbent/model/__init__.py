"""Frozen values that all other packages share. Imports nothing of ours but itself."""
