"""Importers: facts that other programs kept."""
