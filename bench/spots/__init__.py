"""Blind spots: for every space a slice of questions that meaning alone gets wrong, built from what is installed."""
