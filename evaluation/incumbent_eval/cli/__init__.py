"""The commands of `incumbent eval`."""
