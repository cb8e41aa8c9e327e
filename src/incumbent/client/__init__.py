"""A memory elsewhere: the same calls, over HTTP, on a service."""
