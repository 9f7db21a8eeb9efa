"""Names in questions: what a question names in the code leads its answer: definitions, relations, reasons (B.05)."""
