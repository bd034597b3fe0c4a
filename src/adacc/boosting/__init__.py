"""The boosting loop and where training state lives."""
