"""Pools and locks on files, in memory, on Redis."""
