"""Load, decide, commit: brings stored facts before the rules and carries out what they decide."""
