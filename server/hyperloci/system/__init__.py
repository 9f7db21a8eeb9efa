"""System: what touches the operating system, with the standard library only; the lowest layer."""
