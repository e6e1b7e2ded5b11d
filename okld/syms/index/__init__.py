"""What was found out of a file before, in the user's cache: `okld.syms.index.reader` asks it."""
