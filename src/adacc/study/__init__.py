"""The evaluation: which method is better, on what, and is it real."""
