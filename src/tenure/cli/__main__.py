"""`python -m tenure.cli` is the command `tenure`."""

from tenure.cli.app import main

main()
