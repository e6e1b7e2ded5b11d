"""The commands ``okrun`` and ``okprof``."""
