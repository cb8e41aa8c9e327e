"""Lists of what an organization has: who looks sees what they may see, and no trace of the rest."""
