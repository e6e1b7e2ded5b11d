"""openkal.exec as images use it."""

import signal

import pytest


@pytest.mark.spec("EXEC-1", "EXEC-2", "EXEC-3", "EXEC-4")
def test_every_function_keeps_its_contract(holds):
    """Code that an image makes runs on both processors, measured or not."""
    holds("exec")


@pytest.mark.spec("EXEC-2")
def test_no_memory_is_writable_and_executable(run, prof, tmp_path):
    """The kernel's list of the image's mappings has none of both, at no step."""
    done = run("exec", "maps", options=prof, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.spec("EXEC-2", "CRASH-1")
def test_a_write_to_code_is_a_crash(run_on_each):
    """What was published cannot be written again."""
    done = run_on_each("exec", "write")
    assert done.returncode == -signal.SIGSEGV
    assert "SIGSEGV, no permission (address 0x" in done.stderr.decode()
