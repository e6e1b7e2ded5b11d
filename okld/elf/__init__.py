"""The ELF reader: decoding and nothing else; the rules of an image are in okld.image."""
