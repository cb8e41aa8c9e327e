"""The audit stream: an organization's log as entries to read, to follow, and to send on."""
