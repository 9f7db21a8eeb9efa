"""Facts: stated, extracted and imported memories, all written by one writer."""
