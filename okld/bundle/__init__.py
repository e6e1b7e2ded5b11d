"""The bundle: one canonical ZIP of a manifest, its signature, and an image a processor."""
