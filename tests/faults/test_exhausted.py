"""Descriptors and memory come to an end."""

import resource

import pytest


def limited(what, most):
    """Return what sets a limit in a program before it begins."""
    return lambda: resource.setrlimit(what, (most, most))


@pytest.mark.spec("FS-4", "NET-2", "NET-3", "NET-4", "PROC-1", "PROC-4", "DGM-1", "KAL-9")
def test_no_descriptors(run, options, tmp_path):
    """What needs one is refused for it, what needs none goes on, and one given back is used."""
    (tmp_path / "file").write_bytes(b"x")
    limit = limited(resource.RLIMIT_NOFILE, 64)
    done = run("exhausted", options=options, cwd=tmp_path, preexec_fn=limit)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.spec("KAL-3", "TASK-1", "REG-1", "MAP-1", "EXEC-1", "PROC-1", "KAL-9")
def test_no_memory(run, tmp_path):
    """What needs some is refused for it, what needs none goes on, and all works again after."""
    with open(tmp_path / "file", "wb") as file:
        file.truncate(1 << 24)
    limit = limited(resource.RLIMIT_AS, 1 << 29)
    done = run("memory", cwd=tmp_path, preexec_fn=limit)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
