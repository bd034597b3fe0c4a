"""Weak learners and their fitted models."""
