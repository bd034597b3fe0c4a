"""Baselines, measures, thresholds, statistics and worker processes of comparisons and studies."""
