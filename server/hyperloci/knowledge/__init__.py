"""Knowledge: what memories are about, how they relate, and which contradict each other."""
