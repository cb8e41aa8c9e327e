"""`python -m tenure.interfaces.cli` is the command `tenure`."""

from tenure.interfaces.cli.app import main

main()
