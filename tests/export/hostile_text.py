"""Text that does harm where it is taken for more than text."""

HOSTILE = "</script><b>\"'&amp;]]>;\n\x1b[31m\u2028\u202e\udcff\ud800"
"""Ends elements, lines and stacks, colours terminals, turns text around, and is not UTF-8."""

HARMLESS = (
    "</script><b>\"'&amp;]]>;"
    r"\x0a\x1b[31m\xe2\x80\xa8\xe2\x80\xae\xff\xed\xa0\x80"
)
"""The same by ERR-2."""
