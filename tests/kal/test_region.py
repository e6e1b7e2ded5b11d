"""openkal.region as images use it."""

import resource
import signal

import pytest


@pytest.mark.spec("REG-1", "REG-2", "REG-3", "REG-4")
def test_every_function_keeps_its_contract(holds):
    """An image commits parts of 64 GiB that it has reserved, measured or not."""
    holds("region")


@pytest.mark.spec("REG-1", "REG-2", "REG-3")
def test_memory_comes_and_goes(run, prof, tmp_path):
    """What is reserved takes no memory; what is decommitted is given back, by the kernel's word."""
    done = run("region", "maps", options=prof, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.spec("REG-1", "CRASH-1")
def test_what_is_not_committed_faults(run_on_each):
    """A touch is a crash, and is reported as one."""
    done = run_on_each("region", "touch")
    assert done.returncode == -signal.SIGSEGV
    assert "SIGSEGV, no permission (address 0x" in done.stderr.decode()


@pytest.mark.spec("REG-2")
def test_memory_ends(run, prof, tmp_path):
    """Where the system has no more, a commit says so, and what was committed stays."""
    room = 256 << 20
    done = run(
        "region",
        "most",
        options=prof,
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (room, room)),
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert 100 < int(done.stdout) < 256


@pytest.mark.spec("REG-1")
def test_addresses_end(run):
    """Where there are no such addresses, nothing is reserved."""
    room = 1 << 30
    done = run(
        "region",
        "none",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (room, room)),
    )
    assert (done.returncode, done.stderr) == (0, b"")
