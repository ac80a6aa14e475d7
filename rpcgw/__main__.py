"""`python -m rpcgw`: the command line."""

from rpcgw.cli.main import main

if __name__ == "__main__":  # a plugin may spawn processes, which import this
    main()
