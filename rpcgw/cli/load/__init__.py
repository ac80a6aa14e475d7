"""Load on a server, and what it costs there: for `rpcgw bench`, and for the benchmark of the project itself."""
