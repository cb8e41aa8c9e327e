"""What users meet: the command line."""
