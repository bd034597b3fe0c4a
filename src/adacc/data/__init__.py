"""X and y to binned training data."""
