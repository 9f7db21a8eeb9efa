"""Search: filters on memories, and the keyword search over them."""
