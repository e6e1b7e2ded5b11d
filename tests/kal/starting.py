"""What the images "start" and "show" are told and say, and programs to be started."""

import subprocess


def records(data):
    """Return what the image "show" wrote: lists by letter."""
    assert data.endswith(b"\0")
    found = {letter: [] for letter in "avdef"}
    for record in data[:-1].split(b"\0"):
        found[chr(record[0])].append(record[1:])
    return found


def words(letter, values):
    """Return options of the image "start"."""
    return [word for value in values for word in (f"-{letter}", value)]


def compile_program(source, output, *flags):
    """Make a program or an image of a C text."""
    words = ["gcc", *flags, "-x", "c", "-", "-o", output]
    subprocess.run(words, input=source, check=True)
