"""How the learned detector is made: writing pairs, training, exporting, measuring."""
