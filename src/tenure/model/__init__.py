"""Frozen values that everything else speaks. Imports nothing of ours but itself."""
