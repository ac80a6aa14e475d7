"""The doors: aiohttp's server. Bytes in, Inbound; Reply, bytes out."""
