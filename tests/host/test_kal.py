"""The functions of the native host."""

import os
import subprocess

import pytest


@pytest.mark.spec("KAL-1")
def test_handles_are_words_that_were_issued(build):
    """A handle is of its kind, ends once, and is never another's, also when tasks race for it."""
    subprocess.run(build("kal_handle.c", "kal/handle", "kal/stream"), check=True)


@pytest.mark.spec("KAL-1", "KAL-2", "KAL-9")
def test_streams_keep_their_contracts(build):
    """A stream moves bytes or says why not, and only a word that was issued is one."""
    subprocess.run(build("kal_stream.c", "kal/handle", "kal/stream"), check=True)


@pytest.mark.spec("KAL-3", "KAL-4", "KAL-5", "KAL-6", "KAL-8", "BIND-4", "RI-4", "RI-5", "RI-6")
def test_functions_keep_their_contracts(build):
    """Every other function but the two that end the process, at its edges."""
    files = ("memory", "env", "time", "random", "prof", "debug", "version")
    environment = {**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1"}
    program = build("kal.c", "json", *(f"kal/{name}" for name in files))
    subprocess.run(program, check=True, env=environment)
