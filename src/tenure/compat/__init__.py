"""For people who come from elsewhere: the words of other memories on Tenure, and their exports."""
