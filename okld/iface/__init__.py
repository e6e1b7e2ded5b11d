"""The openkal contract: its surface, an image's note, and what an image declares and uses."""
