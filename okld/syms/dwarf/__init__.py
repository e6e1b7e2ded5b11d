"""DWARF, versions 2 to 5: from an address to functions, files and lines."""
