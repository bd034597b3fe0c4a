"""Baselines, thresholds, statistics and workers, shared by comparisons and studies."""
