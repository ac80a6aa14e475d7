"""The wire protocols, pure: what a request is, and what an answer looks like. No I/O."""
