"""How the memory answers: intent, candidates, fusion, explanation, context."""
