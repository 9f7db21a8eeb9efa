"""What is stated, extracted and taken over: memories, written by one writer."""
