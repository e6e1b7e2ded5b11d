"""The `okld` command: each of its commands reads arguments, calls the library, and shows."""
