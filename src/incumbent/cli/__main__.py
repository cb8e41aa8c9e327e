"""`python -m incumbent.cli` is the command `incumbent`."""

from incumbent.cli.app import main

main()
