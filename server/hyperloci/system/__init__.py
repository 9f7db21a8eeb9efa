"""What touches the operating system, made of the standard library alone: the lowest room of all."""
