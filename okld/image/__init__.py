"""What an ok image is: the hardened check of its bytes, and what it says of itself."""
