"""The scikit-learn face of the family."""
