"""MCP: revisions, refusals, tools and results. Pure: no I/O."""
