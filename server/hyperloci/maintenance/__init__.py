"""Maintenance: background jobs, their scheduler, decay and backups."""
