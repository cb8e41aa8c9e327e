"""Turns: from a reading to what is stored of it: checked, proposed, decided and recorded."""
