"""`python -m rpcgw`: the command line."""

from rpcgw.cli.main import main

main()
