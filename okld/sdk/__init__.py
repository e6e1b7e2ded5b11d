"""Making images: headers, start code, linker script, and `okld build`."""
