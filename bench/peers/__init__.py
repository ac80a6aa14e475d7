"""Servers that the daemon is measured beside: each a script of its own."""
