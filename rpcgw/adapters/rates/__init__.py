"""Where rates are counted: in memory that the workers of a host share, or in Redis. Over the `limits` library."""
