"""From stored state to the text a model reads, inside a token budget."""
