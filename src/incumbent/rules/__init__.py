"""Pure rules: values in, decisions out. No clock, no I/O; imports only `incumbent.model`."""
