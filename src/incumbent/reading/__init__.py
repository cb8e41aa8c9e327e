"""Reading: from the text of a turn to what it states, and what that does to what is known."""
