"""Commands by which a memory is used by others and from other machines."""
