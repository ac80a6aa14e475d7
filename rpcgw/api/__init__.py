"""The author's vocabulary: marks, errors, events, call context. Nothing here runs anything."""
