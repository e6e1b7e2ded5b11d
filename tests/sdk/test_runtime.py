"""The SDK's own C: the start code, and the functions that compilers call."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from okld.sdk.build import build
from okld.sdk.flags import HERE, INCLUDE

SDK = Path(HERE)
TESTS = Path(__file__).parent
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wshadow", "-Wconversion"]
SANITIZED = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
FUNCTIONS = ("memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen")


def output(*command) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def start(tmp_path_factory):
    """Return a call that runs the start code on a list of arguments and one of variables."""
    place = tmp_path_factory.mktemp("start")
    renamed = ["-Dmain=image_main", "-D_start=image_start"]
    base = ["gcc", *WARNINGS, *SANITIZED, "-I", INCLUDE]
    subprocess.run([*base, *renamed, "-c", SDK / "start.c", "-o", place / "start.o"], check=True)
    sources = [TESTS / "host.c", TESTS / "vectors.c", place / "start.o"]
    subprocess.run([*base, *sources, "-o", place / "start"], check=True)

    def start(arguments):
        return output(place / "start", *arguments).splitlines()

    return start


@pytest.mark.spec("SDK-3")
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param([], id="none"),
        pytest.param(["x.ok"], id="one"),
        pytest.param(["x.ok", "", "a b", "", "-o", "A=b=c", "="], id="empty"),
        pytest.param(["y" * 70000, "", "z" * 5001], id="long"),
    ],
)
def test_main_is_given_its_arguments(start, arguments):
    """main gets all of them byte for byte, may write to them, and its value is the image's."""
    want = [f"argument {len(text)}:{text}" for text in arguments]
    want += ["argv[argc] null", "envp[0] null", "returned 42"]
    assert start(arguments) == want


@pytest.mark.spec("SDK-3")
@pytest.mark.parametrize("cc", ["gcc", "clang", "clang -fuse-ld=lld", "aarch64-linux-gnu-gcc"])
def test_own_start_takes_its_place(write, tmp_path, cc):
    """An image with a _start of its own has neither the SDK's nor its imports."""
    path = tmp_path / "own.ok"
    made = build([write("own.c", "int _start(void) { return 7; }")], path, cc=cc)
    assert made.used == {}
    assert "main" not in output("nm", path)


@pytest.mark.spec("SDK-5")
@pytest.mark.parametrize("options", [["-O0"], ["-O3"], SANITIZED], ids=["O0", "O3", "sanitized"])
@pytest.mark.parametrize(
    ("cc", "emulator"),
    [("gcc", []), ("clang", []), ("aarch64-linux-gnu-gcc", ["qemu-aarch64"])],
)
def test_functions_are_those_of_the_c_library(tmp_path, cc, emulator, options):
    """At every small offset, size and overlap each does what the C library's does."""
    if emulator:
        options = [option for option in options if "sanitize" not in option] + ["-static"]
    renamed = [f"-D{name}=sdk_{name}" for name in FUNCTIONS]
    base = [cc, *WARNINGS, *options, "-I", INCLUDE]
    object_path, program = tmp_path / "mem.o", tmp_path / "memory"
    subprocess.run([*base, *renamed, "-c", SDK / "mem.c", "-o", object_path], check=True)
    builtin = "-fno-builtin"  # the test calls the C library's, not what a compiler knows of it
    subprocess.run([*base, builtin, TESTS / "memory.c", object_path, "-o", program], check=True)
    assert output(*emulator, program) == "equal\n"


@pytest.mark.spec("SDK-5")
@pytest.mark.parametrize("options", [["-O2"], ["-O3"], ["-Os"]], ids=str)
@pytest.mark.parametrize("cc", ["gcc", "clang", "aarch64-linux-gnu-gcc"])
def test_functions_do_not_call_themselves(tmp_path, cc, options):
    """No loop of theirs becomes a call of themselves: memcmp alone is called, by bcmp."""
    object_path = tmp_path / "mem.o"
    command = [cc, *options, "-fPIC", "-I", INCLUDE, "-c", SDK / "mem.c", "-o", object_path]
    subprocess.run(command, check=True)
    relocations = output("readelf", "-rW", object_path)
    called = {name for name in FUNCTIONS if f" {name} " in relocations.replace("\n", " \n")}
    assert called <= {"memcmp"}


@pytest.mark.spec("SDK-5")
@pytest.mark.parametrize("cc", ["gcc", "clang", "aarch64-linux-gnu-gcc"])
def test_calls_that_compilers_make_are_no_imports(write, tmp_path, cc):
    """Large assignments, loops and comparisons become calls; the image has what they call."""
    source = """
        struct large { char bytes[5000]; } a, b;
        char volatile* sink;
        int _start(void)
        {
            struct large here = {{0}};
            unsigned long n = 0;
            sink = here.bytes;
            a = b;
            while (a.bytes[n])
                n++;
            return __builtin_memcmp(&a, &here, sizeof a) == 0 && n;
        }
    """
    made = build([write("calls.c", source)], tmp_path / "calls.ok", cc=cc, options=["-O2"])
    assert (made.unknown, made.used) == ((), {})
    assert " t memcmp" in output("nm", tmp_path / "calls.ok")


@pytest.mark.spec("SDK-5")
def test_own_function_comes_first(write, tmp_path):
    """An image's own memcpy is used, and is the only one."""
    source = """
        __attribute__((noinline)) void* memcpy(void* to, const void* from, unsigned long size)
        {
            (void)from;
            return size ? to : 0;
        }
        char a[9000], b[9000];
        int _start(void) { return memcpy(a, b, sizeof a) == a; }
    """
    options = ["-O1", "-fno-builtin"]
    build([write("own.c", source)], tmp_path / "own.ok", options=options)
    symbols = output("readelf", "-sW", tmp_path / "own.ok")
    rows = [line.split() for line in symbols.splitlines() if line.endswith(" memcpy")]
    assert len(rows) == 1
    assert int(rows[0][2]) < 32  # the SDK's is longer
