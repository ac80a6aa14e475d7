"""Logs by structlog, metrics in memory-mapped slots shown by prometheus_client."""
