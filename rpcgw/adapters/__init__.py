"""Outside libraries, each at home in one folder."""
