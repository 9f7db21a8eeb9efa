"""What the memory is made of: frozen values and closed sets, no I/O."""
