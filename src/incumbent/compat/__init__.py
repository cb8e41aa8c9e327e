"""For people who come from elsewhere: the words of other memories on Incumbent, and their
exports."""
