"""Terminals of the native host."""

import subprocess

import pytest

HOST = ("terminal", "terminal_kept", "spawn", "stream", "handle")


@pytest.mark.spec("TERM-1", "TERM-2")
def test_a_mode_does_what_it_says(build):
    """Each mode edits, shows and passes on what its bits say, and changes nothing else."""
    subprocess.run(build("kal_terminal.c", *(f"kal/{name}" for name in HOST)), check=True)


@pytest.mark.spec("TERM-3", "TERM-4", "TERM-5")
def test_a_mode_is_put_back(build):
    """It is what it was, whoever changed it last; not by a copy, nor over another program's."""
    subprocess.run(build("kal_terminal_kept.c", *(f"kal/{name}" for name in HOST)), check=True)
