"""Entities: people, projects, tools and concepts that memories name (B.10)."""
