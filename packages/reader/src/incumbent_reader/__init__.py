"""A larger model that reads for Incumbent. It finds `weights` by itself; there is no code here."""
