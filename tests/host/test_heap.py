"""The book of an image's heap."""

import subprocess

import pytest


@pytest.mark.spec("HEAP-2", "HEAP-3")
def test_the_book_is_that_of_a_plain_list(build):
    """Every number is that of a list with a copy at each peak; without memory none is wrong."""
    subprocess.run(build("blocks.c"), check=True)
