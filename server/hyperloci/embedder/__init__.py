"""The process that owns torch and the device, and its client."""
