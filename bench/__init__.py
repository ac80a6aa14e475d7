"""`make bench`: the daemon beside a bare aiohttp handler and its peers, in one run. docs/performance.md says how."""
