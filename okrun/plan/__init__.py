"""The plan: all that the host program has to know to start one image."""
