"""YAML files -> frozen settings: strict, each problem with its place, all problems at once. The home of PyYAML."""
