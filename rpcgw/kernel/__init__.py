"""One call, from params to outcome. Knows no HTTP, no configuration, no protocol."""
