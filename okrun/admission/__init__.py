"""May an image run here? The decision, and what it is made from."""
