"""Sandbox: runs a caller's program in a restricted Python, in a separate process (SPEC-02.27 to .32)."""
