"""`okld build`, `cflags` and `ldflags`."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = """
#include <openkal/stream.h>
#ifndef TEXT
#error "TEXT is not defined"
#endif
int main(void) { return kal_stream_write(kal_stdout(), TEXT, 3) != 3; }
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "main.c"
    path.write_text(SOURCE)
    return path


@pytest.mark.spec("SDK-1", "CLI-2")
def test_build_makes_an_image_and_says_what_it_declares(okld, source, tmp_path):
    """Options of the compiler, joined to their word or not, may stand anywhere."""
    output = tmp_path / "main.ok"
    ran = okld("build", "-O2", "-D", 'TEXT="abc"', source, "--json", "-g", "-o", output)
    assert ran.status == 0
    (got,) = ran.objects
    assert (got["image"], got["undeclared"], got["unknown"]) == (str(output), [], [])
    assert set(got["used"]["openkal.stream"]) == {"kal_stdout", "kal_stream_write"}
    assert okld("check", output).status == 0


@pytest.mark.spec("SDK-1", "CLI-1")
def test_a_build_that_fails_leaves_nothing(okld, source, tmp_path):
    """The status is 1, and the compiler has said why."""
    output = tmp_path / "main.ok"
    ran = okld("build", source, "-o", output)
    assert (ran.status, ran.out, output.exists()) == (1, "", False)


@pytest.mark.spec("SDK-4", "CLI-2")
@pytest.mark.parametrize(
    ("target", "compiler"), [("x86_64", "gcc"), ("aarch64", "aarch64-linux-gnu-gcc")]
)
def test_the_flags_make_an_image_elsewhere(okld, source, tmp_path, target, compiler):
    """As a shell reads them, and as JSON lists them."""
    cflags, ldflags = okld("cflags", "--target", target), okld("ldflags", "--target", target)
    made, output = tmp_path / "main.o", tmp_path / "main.ok"
    compile_words = [*shlex.split(cflags.out), '-DTEXT="abc"', "-c", source, "-o", made]
    subprocess.run([compiler, *compile_words], check=True)
    subprocess.run([compiler, made, *shlex.split(ldflags.out), "-o", output], check=True)
    assert okld("check", output).status == 0
    (listed,) = okld("cflags", "--json", "--target", target).objects
    assert listed == {"schema": 1, "cflags": shlex.split(cflags.out)}


@pytest.mark.spec("SDK-1")
def test_an_interrupted_build_leaves_nothing(source, tmp_path):
    """An interrupt ends the command as it ends any other, and its temporary directory with it."""
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho started\nexec sleep 60\n")
    compiler.chmod(0o755)
    room = tmp_path / "room"
    room.mkdir()
    okld = Path(sys.executable).with_name("okld")
    words = [okld, "build", "--target", "x86_64", source, "-o", tmp_path / "x.ok"]
    env = {**os.environ, "CC": str(compiler), "TMPDIR": str(room)}
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, start_new_session=True) as child:
        assert child.stdout.readline() == b"started\n"
        os.killpg(child.pid, signal.SIGINT)
        assert child.wait() == -signal.SIGINT
    assert list(room.iterdir()) == []
    assert not (tmp_path / "x.ok").exists()
