"""Studies: cross-validation of many methods on many data sets, with tables and tests."""
