"""Access: who may use a memory over HTTP, and who did."""
