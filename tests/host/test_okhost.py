"""The whole of okhost under sanitizers: what it says, what it refuses, images that run in it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from running import SMALL

from okld.iface.table import INTERFACES
from okrun.granting import Grants
from okrun.launch import prepare
from okrun.measuring import measuring
from okrun.plan.codec import HEADER
from okrun.process import run

ROOT = Path(__file__).parents[2]
HOST = ROOT / "okrun" / "host"
IMAGES = ROOT / "testdata" / "images"


@pytest.fixture(scope="session")
def okhost(tmp_path_factory):
    """Return the path of okhost, built with AddressSanitizer and UndefinedBehaviorSanitizer."""
    place = tmp_path_factory.mktemp("okhost")
    generate = [sys.executable, ROOT / "okld" / "iface" / "generate.py"]
    subprocess.run([*generate, "--list", place / "surface.gen.h"], check=True)
    flags = ["-std=gnu11", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    flags += ["-fno-omit-frame-pointer", "-I", place, "-I", HOST, "-I", ROOT / "okld/sdk/include"]
    sources = [*HOST.glob("*.c"), *HOST.glob("kal/*.c"), HOST / "enter_x86_64.S"]
    subprocess.run(["gcc", *flags, *sources, "-o", place / "okhost"], check=True)
    return str(place / "okhost")


def image(name):
    return str(IMAGES / f"{name}.x86_64.ok")


class Prepared:
    """An image that is ready to run, with its plan, before okhost has seen either."""

    def __init__(self, path, okhost, prof=""):
        self.start = prepare(str(path), measuring(prof, "prof"), okhost)
        self.image_fd, self.plan_fd = self.start.fds

    def run(self):
        program, command = self.start.command(())
        return subprocess.run(
            command, executable=program, pass_fds=self.start.fds, capture_output=True
        )

    def close(self):
        for fd in self.start.fds:
            os.close(fd)


@pytest.fixture
def hello(okhost, tmp_path):
    """Return a prepared copy of the hello image, which a test may change."""
    copy = tmp_path / "hello.ok"
    shutil.copy(image("hello"), copy)
    prepared = Prepared(copy, okhost)
    yield prepared
    prepared.close()


@pytest.mark.spec("BIND-4")
def test_description(okhost, small_host):
    """It names its version, processor and interfaces, for people and for programs."""
    done = subprocess.run([okhost, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == "okhost for openkal 0.20.0 on x86_64\n"
    few = [f"openkal.{name}" for name in (*SMALL, "prof", "debug")]
    for host, names in ((okhost, list(INTERFACES)), (small_host, few)):
        done = subprocess.run([host, "--describe"], capture_output=True, text=True, check=True)
        want = {"version": "0.20.0", "arch": "x86_64", "interfaces": names}
        assert json.loads(done.stdout) == want


@pytest.mark.spec("STAT-1", "RUN-8")
@pytest.mark.parametrize(
    "words",
    [
        [],
        ["7"],
        ["x", "a.ok"],
        ["1", "a.ok"],
        ["-1", "a.ok"],
        ["77", "a.ok"],
        ["99999999999", "a.ok"],
    ],
)
def test_not_by_hand(okhost, words):
    """What is no start by okrun is one line and status 125; a standard stream is no plan."""
    done = subprocess.run([okhost, *words], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (125, "")
    assert re.fullmatch(r"okrun: okhost is started by okrun.*\n", done.stderr)


@pytest.mark.spec("PLAN-2", "STAT-1")
@pytest.mark.parametrize("size", [0, 8, 319, 320, 400])
def test_a_cut_plan(hello, size):
    """A plan that is cut is one line and status 125, and no code of the image runs."""
    os.truncate(hello.plan_fd, size)
    done = hello.run()
    assert (done.returncode, done.stdout) == (125, b"")
    assert re.fullmatch(rb"okrun: plan: .* \[PLAN-2\]\n", done.stderr)


@pytest.mark.spec("PLAN-2", "STAT-1")
@pytest.mark.parametrize("value", [2**40, 2**63, 2**64 - 1])
def test_words_of_a_plan_that_are_wrong(hello, value):
    """
    A plan with any one word of its header made huge is one line and status 125 or 126, or the word
    is of no use to this image, which then runs.
    """
    for at, name in enumerate(HEADER):
        given = os.pread(hello.plan_fd, 8, 8 * at)
        os.pwrite(hello.plan_fd, value.to_bytes(8, "little"), 8 * at)
        done = hello.run()
        if done.returncode == 0 and not name.startswith("file_"):
            assert done.stdout == b"hello\n", name
        else:
            assert done.returncode in (125, 126), (name, done.stderr)
            assert re.fullmatch(rb"okrun: [^\n]+\n", done.stderr), name
        os.pwrite(hello.plan_fd, given, 8 * at)


@pytest.mark.spec("PLAN-3")
@pytest.mark.parametrize("how", ["shorter", "longer", "rewritten", "touched"])
def test_a_file_that_changed(hello, how):
    """A file changed in any way between check and start is refused before it is mapped."""
    path = hello.start.image
    data = Path(path).read_bytes()
    if how == "shorter":
        os.truncate(path, 4096)
    elif how == "longer":
        os.truncate(path, len(data) + 1)
    elif how == "rewritten":
        Path(path).write_bytes(data)
    else:
        os.utime(path, ns=(0, os.stat(path).st_mtime_ns + 1))
    done = hello.run()
    assert (done.returncode, done.stdout) == (126, b"")
    assert re.fullmatch(rb"okrun: .*hello.ok: the file changed .* \[PLAN-3\]\n", done.stderr)


@pytest.mark.spec("RUN-8")
def test_descriptors_are_not_passed_on(hello):
    """Both descriptors are closed by an execve, and the plan's before the image runs."""
    program, command = hello.start.command(())
    trace = subprocess.run(
        ["strace", "-e", "trace=fcntl,close", "-o", "/dev/stdout", program, *command[1:]],
        pass_fds=hello.start.fds,
        capture_output=True,
        text=True,
    )
    for fd in hello.start.fds:
        assert f"fcntl({fd}, F_SETFD, FD_CLOEXEC)" in trace.stdout
    assert f"close({hello.plan_fd})" in trace.stdout


@pytest.mark.spec("PLAN-2", "STAT-1")
def test_a_directory_that_is_not_open(okhost):
    """A plan that gives a directory which is not open is one line and status 125."""
    fd = os.open("/", os.O_RDONLY)
    grants = Grants((fd,), (b".",))
    start = prepare(image("hello"), measuring("", "prof"), okhost, grants=grants)
    program, command = start.command(())
    for fds, status, said in (
        (start.fds, 0, b""),
        (start.fds[:2], 125, rb"okrun: plan: a directory is not open .* \[PLAN-2\]\n"),
    ):
        done = subprocess.run(command, executable=program, pass_fds=fds, capture_output=True)
        assert done.returncode == status
        assert re.fullmatch(said, done.stderr)
    for each in start.fds:
        os.close(each)


@pytest.mark.spec("RUN-5", "STAT-1")
@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["return", "300"], 300 & 255, b"init\nfini\n"),
        (["exit", "42"], 42, b"init\n"),
        (["abort"], -signal.SIGABRT, b"init\n"),
    ],
)
def test_ends(okhost, words, status, said):
    """Finalisers run after a return alone, and the status is the image's."""
    done = run(image("ends"), words, host=okhost, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (status, said)


@pytest.mark.spec("RUN-3")
@pytest.mark.parametrize("name", ["rela", "relr"])
def test_relocated_images_check_themselves(okhost, name):
    """The images return 0 when every pointer of theirs is right, and say nothing."""
    done = run(image(name), host=okhost, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.spec("BIND-3")
def test_weak_imports(okhost, small_host):
    """A weak import is bound where the interface is answered, and null where it is not."""
    done = run(image("weak"), host=okhost, stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (0, b"random 1\nnet 1\nmap 1\n")
    done = run(image("weak"), host=str(small_host), stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (0, b"random 1\nnet 0\nmap 0\n")


@pytest.mark.spec("CRASH-1")
def test_crash(okhost):
    """The backtrace has crash.ld's functions, also the caller of the one without a frame."""
    done = run(image("crash"), host=okhost, stderr=subprocess.PIPE)
    lines = done.stderr.decode().splitlines()
    assert done.returncode == -signal.SIGSEGV
    assert lines[0] == "okrun: crash.x86_64.ok: SIGSEGV, nothing is mapped there (address 0x10)"
    frames = [re.fullmatch(r"    #\d+ (\w+)\+(0x\w+) \(.*\+(0x\w+)\)", line) for line in lines[2:7]]
    starts = {"crash_three": 0x2001200, "crash_two": 0x2001100, "crash_one": 0x2001000}
    assert [frame[1] for frame in frames] == [*starts, "main", "_start"]
    for frame in frames[:3]:
        assert int(frame[3], 16) - int(frame[2], 16) == starts[frame[1]]
    command = f"okld symbolize {image('crash')}"
    addresses = [int(frame[3], 16) for frame in frames]
    want = " ".join(hex(address - (n > 0)) for n, address in enumerate(addresses))
    assert lines[-1] == f"{command} {want}"


@pytest.mark.spec("RUN-7")
def test_the_process_has_the_images_name(okhost, tmp_path):
    """What ps and pkill show is the image's base name, cut to the kernel's 15 bytes."""
    copy = tmp_path / "a-long-image-name.ok"
    shutil.copy(image("copy"), copy)
    prepared = Prepared(copy, okhost)
    program, command = prepared.start.command(())
    child = subprocess.Popen(
        command, executable=program, pass_fds=prepared.start.fds,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    child.stdin.write(b"x")
    child.stdin.flush()
    assert child.stdout.read(1) == b"x"
    assert Path(f"/proc/{child.pid}/comm").read_text() == "a-long-image-na\n"
    child.communicate()
    prepared.close()
