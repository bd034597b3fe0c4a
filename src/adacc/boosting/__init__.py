"""The boosting loop and its training backends."""
