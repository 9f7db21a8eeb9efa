"""Data model: frozen values and enumerations, no I/O."""
