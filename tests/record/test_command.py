"""``okprof record`` runs any command as it would run without it."""

import os
import resource
import signal
import subprocess
import sys

import pytest
from running import CLEAN, COMMITTED

NOTHING = (
    "okprof: no report: no image was measured (only those are that okrun starts, in this"
    " environment and without --prof)"
)

HELLO = COMMITTED / "hello.x86_64.ok"


@pytest.mark.spec("REC-1", "REC-8")
@pytest.mark.parametrize("status", [0, 1, 3, 125, 126, 127, 255])
def test_status(record, lines, status):
    """The status is the command's, and the only line says that no image ran."""
    done = record("sh", "-c", f"exit {status}")
    assert (done.returncode, done.stdout, lines(done.stderr)) == (status, b"", [NOTHING])


@pytest.mark.spec("REC-1", "REC-5")
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGABRT, signal.SIGSEGV,
        signal.SIGKILL, signal.SIGPIPE, signal.SIGTERM, signal.SIGXFSZ, signal.SIGRTMIN,
        signal.SIGRTMAX,
    ],
)  # fmt: skip
def test_death(record, lines, number):
    """What ends the command by a signal ends this command by it, after its line."""
    done = record("sh", "-c", f"kill -{int(number)} $$")
    assert (done.returncode, done.stdout, lines(done.stderr)) == (-number, b"", [NOTHING])


@pytest.mark.spec("REC-5")
def test_one_core(record, tmp_path):
    """A command that leaves a core leaves the only one."""
    (tmp_path / "inner").mkdir()
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    done = record(
        *("sh", "-c", "cd inner && kill -ABRT $$"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)),
    )
    assert done.returncode == -signal.SIGABRT
    assert list(tmp_path.glob("core*")) == []


@pytest.mark.spec("REC-1")
def test_words(record):
    """The command gets its words byte for byte, options of its own and empty ones among them."""
    words = ["-o", "--what", "", "a b", "\n", "--", b"\xff\xc3"]
    show = "import os, sys; os.write(1, b'|'.join(map(os.fsencode, sys.argv[1:])))"
    for before in ([], ["--"], ["-o", "out", "--what", "count"], ["-oout", "--what=count", "--"]):
        done = record(*before, sys.executable, "-c", show, *map(os.fsdecode, words))
        assert done.stdout == b"-o|--what||a b|\n|--|\xff\xc3"


@pytest.mark.spec("REC-1")
def test_command_like_an_option(record, tmp_path):
    """After -- a command may be called as an option is, and -- itself is a name like another."""
    for name in ("-o", "--what", "--"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\nexit 9\n")
        program.chmod(0o755)
        env = CLEAN | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        assert record("--", name, env=env).returncode == 9


@pytest.mark.spec("REC-1")
@pytest.mark.parametrize("path", ["here:/usr/bin:/bin", "/usr/bin:/bin:", ":/usr/bin:/bin"])
def test_relative_path(record, tmp_path, path):
    """A part of PATH that is relative, or empty, is a place in the working directory."""
    for folder in (tmp_path, tmp_path / "here"):
        folder.mkdir(exist_ok=True)
        program = folder / "only-here"
        program.write_text("#!/bin/sh\nexit 9\n")
        program.chmod(0o755)
    assert record("only-here", env=CLEAN | {"PATH": path}).returncode == 9


@pytest.mark.spec("REC-1")
def test_script_of_no_interpreter(record, tmp_path):
    """A text file without a first line for the system is executed by the shell."""
    program = tmp_path / "script"
    program.write_text('echo "$0 $*"; exit 9\n')
    program.chmod(0o755)
    done = record("./script", "a", "b")
    assert (done.returncode, done.stdout) == (9, b"./script a b\n")


@pytest.mark.spec("REC-12")
@pytest.mark.parametrize(
    ("name", "status", "line"),
    [
        ("no-such", 127, "no such command: no-such"),
        ("./no-such", 127, "./no-such: No such file or directory"),
        ("", 127, "a command without a name: No such file or directory"),
        ("./folder", 126, "./folder: Permission denied"),
        ("./plain", 126, "./plain: Permission denied"),
        ("./plain/below", 126, "./plain/below: Not a directory"),
        ("./lost", 127, "./lost: the interpreter that it names is missing"),
        ("./zeros", 126, "./zeros: Exec format error"),
        ("a\nb\x1b", 127, r"no such command: a\x0ab\x1b"),
    ],
)
def test_cannot_be_started(record, lines, tmp_path, name, status, line):
    """What cannot be executed is one line and a status of its own, and leaves no directory."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain").write_text("text")
    for program, data in (("lost", "#!/no/such\n"), ("zeros", "\0\0\0\0")):
        (tmp_path / program).write_text(data)
        (tmp_path / program).chmod(0o755)
    before = sorted(os.listdir(tmp_path))
    done = record("--", name)
    assert (done.returncode, done.stdout) == (status, b"")
    assert lines(done.stderr) == [f"okprof: {line}"]
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.spec("REC-12")
@pytest.mark.parametrize("executable", [False, True])
@pytest.mark.parametrize("word", ["app", "./app"])
@pytest.mark.parametrize("kind", ["image", "bundle", "member"])
def test_image_is_no_command(record, lines, command, tmp_path, kind, word, executable):
    """Whoever records an image itself is told how one is run."""
    app = tmp_path / "app"
    if kind == "image":
        app.write_bytes(HELLO.read_bytes())
    else:
        subprocess.run([command("okld"), "bundle", HELLO, "-o", app], check=True)
    app.chmod(0o755 if executable else 0o644)
    if kind == "member":
        word += ":x86_64"
    done = record(word, "a", "b c")
    (line,) = lines(done.stderr)
    assert line.endswith(f"; an image is run so: okprof record -- okrun {word} a 'b c'")


@pytest.mark.spec("REC-12")
@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([], "no command"),
        (["--"], "no command"),
        (["--what"], "--what takes a value"),
        (["--what=", "true"], "--what takes a value"),
        (["--what", "", "true"], "--what takes a value"),
        (["-o"], "-o takes a value"),
        (["-o", "", "true"], "-o takes a value"),
        (["--what", "time", "true"], "calls, count, counters, perfmap, heap (got 'time')"),
        (["--what", "calls,", "true"], "(got '')"),
        (["--what", "calls:out", "true"], "WHAT[,WHAT...]"),
        (["-x", "true"], "unknown option -x"),
        (["--json", "true"], "unknown option --json"),
    ],
)
def test_usage(record, lines, tmp_path, words, part):
    """A request that makes no sense is one line, status 125, and nothing is run."""
    done = record(*words)
    (line,) = lines(done.stderr)
    assert (done.returncode, done.stdout) == (125, b"")
    assert line.startswith("okprof: ")
    assert part in line
    assert os.listdir(tmp_path) == []


@pytest.mark.spec("REC-12")
def test_help(record):
    """--help is the answer, on standard output."""
    done = record("--help")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"usage: okprof record ")
