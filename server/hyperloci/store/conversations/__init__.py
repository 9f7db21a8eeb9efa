"""Conversations: sessions, turns, chunks and consolidations."""
