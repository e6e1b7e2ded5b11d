"""An image runs: its status, its arguments, its environment and its ends, on both processors."""

import itertools
import resource
import subprocess

import pytest


def arguments(*words):
    """Return what testdata/src/args.c says of its arguments."""
    lines = [b"%d:%s\n" % (len(word), word) for word in words]
    return b"".join([b"arguments %d\n" % len(words), *lines])


def variables(env):
    """Return what it says of the environment, as sorted lines."""
    return sorted(
        b"%d:%s=%d:%s" % (len(name), name, len(value), value) for name, value in env.items()
    )


def said(output):
    """Return what it says of the arguments, and the sorted lines on the environment."""
    args, _, rest = output.partition(b"variables ")
    lines = rest.splitlines()
    assert lines[-1] == b"missing 9"
    assert int(lines[0]) == len(lines) - 2
    return args, sorted(lines[1:-1])


@pytest.mark.spec("STAT-1", "RUN-2")
@pytest.mark.parametrize("status", [0, 1, 42, 255])
def test_status_is_the_images(run_on_each, status):
    """What main returns is the status of okrun."""
    done = run_on_each("status", str(status))
    assert (done.returncode, done.stdout, done.stderr) == (status, b"ran\n", b"")


@pytest.mark.spec("KAL-4", "RUN-7", "SDK-3")
def test_arguments_and_environment_are_bytes(run_on_each):
    """
    Arguments and variables arrive byte for byte: empty ones, not UTF-8, with newlines, and options
    of okrun's.
    """
    args = [b"", b"--help", b"--", b"\xff\xfe", b"two\nlines", "\u00e9".encode(), b"-v"]
    env = {b"EMPTY": b"", b"BYTES": b"\xff=\x80", b"NAME WITH SPACE": b"x"}
    image = run_on_each.image("args")
    done = run_on_each(image, *args, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert said(done.stdout) == (arguments(str(image).encode(), *args), variables(env))


@pytest.mark.spec("RUN-7")
@pytest.mark.parametrize(
    "env",
    [
        pytest.param({}, id="none at all"),
        pytest.param({b"LC_CTYPE": b"C"}, id="the locale C"),
        pytest.param({b"LC_CTYPE": b"C.UTF-8"}, id="the locale that Python sets"),
        pytest.param({b"LANG": b"POSIX", b"A": b"1"}, id="the locale POSIX"),
    ],
)
def test_python_leaves_no_trace_in_the_environment(run, env):
    """Python changes LC_CTYPE in some locales; the image sees what okrun was given."""
    assert said(run("args", env=env).stdout)[1] == variables(env)


@pytest.mark.spec("RUN-7")
def test_options_for_the_environment(run):
    """--env sets a variable or replaces one; --clear-env leaves only those."""
    env = {"A": "1", "B": "2"}
    options = ["--env", "B=3", "--env=C=a=b", "--env", "D="]
    done = run("args", options=options, env=env)
    assert said(done.stdout)[1] == [b"1:A=1:1", b"1:B=1:3", b"1:C=3:a=b", b"1:D=0:"]
    done = run("args", options=["--clear-env", *options], env=env)
    assert said(done.stdout)[1] == [b"1:B=1:3", b"1:C=3:a=b", b"1:D=0:"]


@pytest.mark.spec("KAL-4")
def test_image_is_named_as_given(run, tmp_path):
    """argv[0] is the path that okrun was given, not another name of the file."""
    (tmp_path / "--odd \udcff").write_bytes(run.image("args").read_bytes())
    done = run("./--odd \udcff", cwd=tmp_path)
    assert done.stdout.startswith(arguments(b"./--odd \xff"))
    done = run("--odd \udcff", cwd=tmp_path, options=["--"])
    assert done.stdout.startswith(arguments(b"--odd \xff"))


@pytest.mark.spec("RUN-5", "KAL-7", "STAT-1")
@pytest.mark.parametrize(
    ("way", "status", "out", "err"),
    [
        pytest.param("return", 300 & 255, b"init\nfini\n", b"", id="main returns"),
        pytest.param("exit", 300 & 255, b"init\n", b"", id="kal_exit"),
        pytest.param("abort", -6, b"init\n", b"ends was told to abort", id="kal_abort"),
    ],
)
def test_each_of_the_three_ends(run_on_each, way, status, out, err):
    """
    Initialisers run before main, finalisers only after it returns; an abort says its message and
    dies by SIGABRT.
    """
    done = run_on_each("ends", way, "300")
    assert (done.returncode, done.stdout) == (status, out)
    assert err in done.stderr


@pytest.mark.spec("BIND-3")
def test_optional_imports(run_on_each, run, small_host):
    """
    A weak import of an interface that is answered is bound, one of an interface that is not is
    null.
    """
    done = run_on_each("weak")
    assert (done.returncode, done.stdout) == (0, b"random 1\nnet 1\nmap 1\n")
    done = run("weak", options=["--host", small_host])
    assert (done.returncode, done.stdout) == (0, b"random 1\nnet 0\nmap 0\n")


@pytest.mark.spec("RUN-2", "RUN-3", "RUN-4", "KAL-3")
@pytest.mark.parametrize(
    ("name", "out"),
    [
        pytest.param("hello", b"hello\n", id="hello"),
        pytest.param("alloc", b"", id="memory"),
        pytest.param("rela", b"", id="relocations"),
        pytest.param("relr", b"", id="relative relocations, packed"),
        pytest.param("counters", b"props 0\n", id="counters that nobody measures"),
    ],
)
def test_committed_images_run(run_on_each, name, out):
    """An image of testdata finds everything as its source says it should, and ends with 0."""
    done = run_on_each(name)
    assert (done.returncode, done.stdout, done.stderr) == (0, out, b"")


@pytest.mark.spec("STAT-1", "CLI-1")
@pytest.mark.parametrize(
    "words",
    [
        pytest.param([], id="nothing"),
        pytest.param(["--fast", "x.ok"], id="an option it does not have"),
        pytest.param(["--version=2", "x.ok"], id="a value that an option does not take"),
        pytest.param(["--prof"], id="an option without its value"),
        pytest.param(["--env", "=x", "x.ok"], id="a variable without a name"),
        pytest.param(["--env", "x", "x.ok"], id="a variable without a value"),
        pytest.param(["--host=", "x.ok"], id="a host without a name"),
        pytest.param(["--"], id="no image"),
    ],
)
def test_usage_is_status_125(command, one_line, words):
    """A request that makes no sense is one line and status 125."""
    done = subprocess.run([command("okrun"), *words], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (125, b"")
    one_line(done.stderr)


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize("option", ["--version", "--help"])
@pytest.mark.parametrize("name", ["okld", "okrun", "okprof"])
def test_version_and_help(command, name, option):
    """They are answers, on standard output; where it takes none that is a failure, in one line."""
    done = subprocess.run([command(name), option], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert name.encode() in done.stdout
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [command(name), option], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode not in (0, None)
    assert done.stderr.count(b"\n") == 1


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["okrun", "-v", "--help"], id="okrun"),
        pytest.param(["okprof", "report", "--help"], id="okprof"),
    ],
)
def test_help_after_something_else(command, words):
    """Who asks for help in the middle of a command gets it."""
    done = subprocess.run([command(words[0]), *words[1:]], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"usage: ")


@pytest.mark.spec("RUN-7")
def test_no_file_may_be_written(run):
    """An image that writes no file needs no file of any size, not even for its start."""
    for name in ("hello", "relr"):
        done = run(name, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.spec("RUN-7")
def test_verbose_says_what_was_admitted(run):
    """
    -v names the processor, the interfaces and who declared them, the host program and what is
    measured.
    """
    done = run("weak", options=["-v"])
    verbose = done.stderr.decode()
    assert all(line.startswith("okrun: ") for line in verbose.splitlines())
    for part in (
        "x86_64",
        "requires openkal.stream;",
        "optional openkal.random, openkal.net, openkal.map;",
        "declared by its note",
        "okhost",
        "measures nothing",
    ):
        assert part in verbose
    assert done.stdout == b"random 1\nnet 1\nmap 1\n"


@pytest.mark.spec("RUN-8", "KAL-2")
@pytest.mark.parametrize("closed", list(itertools.product((0, 1), repeat=3)))
@pytest.mark.parametrize("measured", [False, True], ids=["plain", "measured"])
def test_closed_standard_streams(run, tmp_path, closed, measured):
    """
    A standard stream that was closed is an error value to the image, whatever else okrun and the
    host open.
    """
    shell = 'exec "$@"' + "".join(f" {n}>&-" for n in range(3) if closed[n])
    words = run.words("streams", options=["--prof=calls:out"] if measured else [])
    done = subprocess.run(
        ["sh", "-c", shell, "sh", *words],
        capture_output=True,
        check=False,
        input=b"x",
        cwd=tmp_path,
    )
    assert done.returncode == closed[0] + 2 * closed[1] + 4 * closed[2]
    assert done.stdout == (b"" if closed[1] else b"out\n")
    assert done.stderr == (b"" if closed[2] else b"err\n")
    assert len(list(tmp_path.glob("out/okprof-*.json"))) == measured
