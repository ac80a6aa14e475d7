"""What a plugin's author uses in tests."""
