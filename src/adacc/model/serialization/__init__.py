"""Model files: `FittedModel` to a file and back."""
