"""Projects: files, Git history, places, and what was set aside."""
