"""openkal.process and openkal.space of the native host, called directly."""

import subprocess

import pytest

FILES = ("fs_dir", "fs_list", "fs_names", "handle", "job", "process", "program", "spawn", "start")
PROCESS = ("plan", "text", *(f"kal/{name}" for name in (*FILES, "stream", "wait")))
TIMEOUT = ("datagram", "endpoint", "net", "timeout")
CHILD = (*PROCESS, *(f"kal/{name}" for name in TIMEOUT))
SPACE = (*CHILD, "kal/space", "kal/task", "enter", "map")


@pytest.mark.spec("PROC-1", "PROC-2")
def test_what_a_program_gets(build, tmp_path):
    """A program has its texts, streams, grants and directory; what is refused starts nothing."""
    subprocess.run(build("kal_process.c", *PROCESS), check=True, cwd=tmp_path)


@pytest.mark.spec("PROC-4", "PROC-5", "PROC-6", "PROC-7")
def test_children(build, tmp_path):
    """Ends are known, lifetimes bound, jobs end together, and nobody is left behind."""
    subprocess.run(build("kal_child.c", *CHILD), check=True, cwd=tmp_path)


@pytest.mark.spec("PROC-8")
def test_requests_to_stop(build, tmp_path):
    """The first request sets the word and wakes who waits; the next ends the program."""
    program = build("kal_stop.c", *PROCESS, "kal/stop", "kal/task", "enter", "map")
    subprocess.run(program, check=True, cwd=tmp_path)


@pytest.mark.spec("SPC-1", "SPC-2", "PROC-7")
def test_copies(build, tmp_path):
    """A copy has the memory and handles, not the tasks, and is in the job of the original."""
    subprocess.run(build("kal_space.c", *SPACE), check=True, cwd=tmp_path)
