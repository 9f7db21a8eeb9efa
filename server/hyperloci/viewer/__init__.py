"""The viewer: the memory in a browser, served to one person on this machine."""
