"""Job queues (extra `jobs`)."""
