"""Supervisor, template, worker, drain; wiring joins ports and adapters."""
