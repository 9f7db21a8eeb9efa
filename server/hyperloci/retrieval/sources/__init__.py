"""Sources: which kinds of source a question about a project asks for."""
