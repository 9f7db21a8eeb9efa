"""Diagnostics: `hyperloci doctor` and `hyperloci demo`."""
