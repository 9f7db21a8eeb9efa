"""Names: what a written name of code, a file, a section, a commit or a thing means in a project (D.03)."""
