"""The reports of measured runs: what one says, its bytes, and several added up."""
