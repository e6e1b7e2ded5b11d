"""What options name is checked before anything is read, needed or not; and lines have one end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HELLO = ROOT / "testdata" / "images" / "hello.x86_64.ok"
UUID = "01234567-89AB-cdef-0123-456789abcdef"


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A directory with a program, a text, a directory and a FIFO."""
    monkeypatch.chdir(tmp_path)
    Path("good.ok").write_bytes(HELLO.read_bytes())
    Path("text").write_text("no program\n")
    Path("dir").mkdir()
    os.mkfifo("fifo")
    return tmp_path


WRONG = [
    ("--debug-file", "absent", "No such file or directory"),
    ("--debug-file", "text", "no ELF, PE or Mach-O file"),
    ("--debug-file", "dir", "Is a directory"),
    ("--debug-file", "fifo", "not a regular file"),
    ("--debug-file", "", "No such file or directory"),
    ("--module", "x", "no NAME=FILE"),
    ("--module", "x=", "no NAME=FILE"),
    ("--module", "x=absent", "No such file or directory"),
    ("--module", "=text", "no ELF, PE or Mach-O file"),
    ("--module", "x=dir", "Is a directory"),
    ("--arch", "pdp11", "neither an architecture nor a UUID"),
    ("--arch", "", "neither an architecture nor a UUID"),
    ("--arch", UUID[:-1], "neither an architecture nor a UUID"),
    ("--arch", "\x1b[31m", "neither an architecture nor a UUID"),
    ("--sysroot", "absent", "No such file or directory"),
    ("--sysroot", "text", "not a directory"),
    ("--sysroot", "", "No such file or directory"),
    ("--debug-dir", "absent", "No such file or directory"),
    ("--debug-dir", "text", "not a directory"),
    ("--debug-dir", "a\0b", "a path holds no NUL"),
    ("--debuginfod", "", "no URL of http or https"),
    ("--debuginfod", "localhost:8002", "no URL of http or https"),
    ("--debuginfod", "ftp://localhost", "no URL of http or https"),
    ("--debuginfod", "http://", "no URL of http or https"),
    ("--debuginfod", "http:///path", "no URL of http or https"),
    ("--debuginfod", "http://a b", "no URL of http or https"),
    ("--debuginfod", "http://host:port/", "no URL of http or https"),
    ("--debuginfod", "http://host:65536/", "no URL of http or https"),
    ("--debuginfod", "http://[::1", "no URL of http or https"),
    ("--debuginfod", "http://host\n", "no URL of http or https"),
]


@pytest.mark.spec("ADR-13", "CLI-1", "ERR-2")
@pytest.mark.parametrize(("option", "value", "why"), WRONG)
def test_a_wrong_value_is_one_line_that_names_the_option(okld, place, option, value, why):
    """Though no answer needs what it names; a right one before it changes nothing."""
    for words in ([option, value], [f"{option}={value}"]):
        ran = okld("symbolize", *words, "good.ok", "0x10540")
        assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert why in ran.err
        assert option == "--module" or option in ran.err
        assert ran.err.rstrip().isprintable()


@pytest.mark.spec("ADR-13", "IDX-11")
@pytest.mark.parametrize(
    ("option", "value", "why"),
    [row for row in WRONG if row[0] in ("--sysroot", "--debug-dir", "--debuginfod")],
)
def test_so_it_is_for_the_whole_index(okld, place, option, value, why):
    """No index is made."""
    ran = okld("symbols", "--index", f"{option}={value}", "good.ok")
    assert (ran.status, ran.out, ran.err.count("\n"), why in ran.err) == (2, "", 1, True)


@pytest.mark.spec("ADR-13")
@pytest.mark.parametrize(
    "words",
    [
        ["--debug-file", "good.ok"],
        ["--module", "libx.so=good.ok", "--module", "=good.ok"],
        ["--arch", "x86_64"],
        ["--arch", "AArch64"],
        ["--arch", "x86-64"],
        ["--arch", UUID],
        ["--arch", UUID.replace("-", "")],
        ["--sysroot", "dir"],
        ["--sysroot", ".", "--debug-dir", "/dir"],
        ["--debug-dir", "dir", "--debug-dir", "."],
        ["--debuginfod", "http://localhost"],
        ["--debuginfod", "https://user@localhost:8002/path?x=y"],
        ["--debuginfod", "http://[::1]:8002"],
    ],
)
def test_a_right_value_is_taken(okld, place, words):
    """Whether it is needed or not: these answer from the file."""
    ran = okld("symbolize", *words, "--no-lines", "good.ok", "0x10540")
    assert ran == (0, "0x10540 _start+0x0\n", "")


@pytest.mark.spec("ADR-13", "OBJ-5")
def test_a_debug_file_may_be_apples_directory(okld, place):
    """What dsymutil makes is a directory with the files in it."""
    Path("x.dSYM/Contents/Resources/DWARF").mkdir(parents=True)
    ran = okld("symbolize", "--debug-file", "x.dSYM", "--no-lines", "good.ok", "0x10540")
    assert ran.status == 0


@pytest.mark.spec("ADR-2", "CLI-1")
@pytest.mark.parametrize(
    "words",
    [
        ["--absolute", "--relative"],
        ["--relative", "--absolute"],
        ["--relative", "--file-offset"],
        ["--absolute", "--absolute", "--file-offset"],
    ],
)
def test_a_number_is_of_one_kind(okld, words):
    """Two kinds at once are a mistake of who asks; one that is said twice is not."""
    ran = okld("symbolize", *words, HELLO, "0x10540")
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert f"{words[-1]}: not allowed with argument {words[0]}" in ran.err
    assert okld("symbolize", words[0], words[0], HELLO, "0x10540").status in (0, 1)


def feed(*arguments: object, **options) -> tuple[int, str, str]:
    code = "import sys; from okld.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "symbolize", *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=env, capture_output=True, check=False, **options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.spec("ADR-5", "CLI-1")
@pytest.mark.parametrize("arguments", [(), (HELLO,), ("--json", HELLO)])
def test_standard_input_that_cannot_be_read(tmp_path, arguments):
    """Is one line, whatever the reason: here it is open for writing alone."""
    with open(tmp_path / "out", "wb") as sink:
        status, out, err = feed(*arguments, stdin=sink)
    assert (status, out, err) == (
        2,
        "",
        "okld: cannot read standard input: Bad file descriptor\n",
    )


@pytest.mark.spec("ADR-5")
def test_what_ends_a_line():
    """A line feed, with carriage returns before it or without; one alone ends none."""
    name = "_start+0x0\n"
    for text, want in (
        (b"10540\n10540", ["0x10540 " + name] * 2),
        (b"10540\r\n10540\r\n", ["0x10540 " + name] * 2),
        (b"10540\r\r\n 10540\t\r\n", ["0x10540 " + name] * 2),
        (b"10540\r", ["0x10540 " + name]),
        (b"10540\r10540\n", ["10540\r10540\n"]),
        (b"10540\n10540\r10540\n_start+0x0\n", ["0x10540 " + name, "10540\r10540\n", "_start+0x0 "
         + name]),
    ):  # fmt: skip
        assert feed("--no-lines", HELLO, input=text) == (0, "".join(want), "")


@pytest.mark.spec("ADR-8", "ERR-2")
def test_what_was_asked_comes_back_without_control_bytes(okld):
    """A word from anywhere does not act on the terminal; in JSON it is what it was."""
    word = "\x1b[31m\n+0x1"
    ran = okld("symbolize", HELLO, word)
    assert ran == (1, "\\x1b[31m\\x0a+0x1 ?? (no symbol or section of this name)\n", "")
    (got,) = okld("symbolize", "--json", HELLO, word).objects
    assert got["address"] == word
    assert feed(HELLO, input=b"\x1b[31m\xff+0x1\n")[:2] == (
        1,
        "\\x1b[31m\\xff+0x1 ?? (no symbol or section of this name)\n",
    )
