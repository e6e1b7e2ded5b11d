"""openkal.map as images use it."""

import signal

import pytest


@pytest.mark.spec("MAP-1", "MAP-2", "MAP-3", "MAP-4")
def test_every_function_keeps_its_contract(holds):
    """An image maps a file of its own in every way, and none that it may not, measured or not."""
    holds("map")


@pytest.mark.spec("MAP-2")
def test_what_was_flushed_is_in_the_file(run_on_each, prof, tmp_path):
    """A mark that was flushed is there for whoever reads the file after the program was killed."""
    done = run_on_each("map", "flush", options=prof, cwd=tmp_path)
    assert done.returncode == -signal.SIGABRT
    assert b"flushed" in (tmp_path / "bytes").read_bytes()


@pytest.mark.spec("MAP-1", "CRASH-1")
def test_a_byte_that_the_file_has_lost(run_on_each, prof, tmp_path):
    """It faults, and the report asks whether a mapped file was made shorter."""
    done = run_on_each("map", "lost", options=prof, cwd=tmp_path)
    assert done.returncode == -signal.SIGBUS
    said = done.stderr.decode()
    assert "SIGBUS, no bytes there: was a mapped file made shorter? (address 0x" in said
    assert "#0 main+" in said
