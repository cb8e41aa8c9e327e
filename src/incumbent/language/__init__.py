"""Reading what people say: statements, their values, and whose they are. No model, no network."""
