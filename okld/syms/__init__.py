"""Names for addresses: ELF symbol tables of any class and byte order, and the rules of choice."""
