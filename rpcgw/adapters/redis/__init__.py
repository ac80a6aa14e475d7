"""How a Redis is spoken to, for stores and queues: one server, one that Sentinels know, or a Cluster."""
