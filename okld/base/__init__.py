"""What everything else stands on: errors, views of bytes, limits."""
