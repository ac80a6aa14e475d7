"""Who may: Host and Origin guards, tokens. Pure: no I/O."""
