"""Load, decide, commit: bring stored facts before the rules and carry out their decisions."""
