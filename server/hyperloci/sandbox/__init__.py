"""Programs of a caller's own, run in a restricted Python in a process of its own (SPEC-02.27 to .32)."""
