"""The commands, by theme. Each module adds its own to the command line with `register`."""
