"""The `okld` command itself: statuses, one line for what goes wrong, and output that breaks."""

from __future__ import annotations

import os
import random
import resource
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import okld as library
from okld.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
HELLO = ROOT / "testdata" / "images" / "hello.x86_64.ok"


def spawn(*arguments: object, **options) -> subprocess.CompletedProcess:
    """Run `okld` as a process of its own."""
    code = "import sys; from okld.cli.main import main; sys.exit(main())"
    env = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, env=env, stderr=subprocess.PIPE, check=False, **options)


@pytest.mark.spec("CLI-1")
def test_version_and_help_are_results(okld):
    """On standard output, with status 0."""
    assert okld("--version") == (0, f"okld {library.__version__}\n", "")
    ran = okld("--help")
    assert (ran.status, ran.err) == (0, "")
    assert all(f"  {name}" in ran.out for name in COMMANDS)


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_takes_json(okld, name):
    """And says so."""
    ran = okld(name, "--help")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith(f"usage: okld {name} ")
    assert "--json" in ran.out


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nope",),
        ("\x1b[31m",),
        ("show",),
        ("show", "--nope", HELLO),
        ("show", HELLO, HELLO),
        ("check",),
        ("interfaces", "--require", HELLO),
        ("build", "x.c"),
        ("cflags", "--target", "pdp11"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(okld, arguments):
    """Without a control byte of what was given."""
    ran = okld(*arguments)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("okld: ")
    assert ran.err.rstrip().isprintable()


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize("name", ["show", "interfaces", "symbols", "symbolize"])
def test_a_file_that_cannot_be_read_is_status_2(okld, name, tmp_path):
    """Absent, a directory, a FIFO that nobody writes to, or a device that never ends."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    rest = ["0x0"] if name == "symbolize" else []
    for path in (tmp_path / "absent", tmp_path, pipe, "/dev/zero"):
        ran = okld(name, path, *rest)
        assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert str(path) in ran.err


OTHER_BYTES = {
    "empty": b"",
    "text": b"no program\n",
    "long text": b"no program\n" * 100,
    "magic": b"\x7fELF",
    "pe": b"MZ" + bytes(100),
    "macho": bytes.fromhex("cffaedfe"),
    "half": HELLO.read_bytes()[:60],
}


@pytest.mark.spec("CLI-1", "CLI-4", "SYM-1", "ADR-9")
@pytest.mark.parametrize("what", OTHER_BYTES)
@pytest.mark.parametrize(
    ("name", "status"), [("show", 2), ("symbols", 2), ("symbolize", 2), ("interfaces", 1)]
)
def test_other_bytes_are_named_in_one_line(okld, tmp_path, name, status, what):
    """By a rule: what describes a file cannot read them, what judges an image refuses them."""
    path = tmp_path / "other"
    path.write_bytes(OTHER_BYTES[what])
    for options in ((), ("--json",)):
        ran = okld(name, *options, path, *(["0x0"] if name == "symbolize" else []))
        assert (ran.status, ran.out, ran.err.count("\n")) == (status, "", 1)
        assert ran.err.startswith(f"okld: {path}: ")
        assert ran.err.count(str(path)) == 1
        assert ran.err.rstrip().endswith("]")


@pytest.mark.spec("CLI-1")
def test_images_that_are_refused_are_named(okld, tmp_path):
    """Of several, by a rule of the gate or for what it does not declare."""
    path = tmp_path / "other.ok"
    path.write_bytes(b"no program\n")
    ran = okld("bundle", HELLO, path, "-o", tmp_path / "a.okb")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == f"okld: {path}: length of the file (got 0xb, limit 0x40) [IMG-1]\n"
    ran = okld("extract", path)
    assert ran == (2, "", f"okld: {path} is no bundle of images\n")


@pytest.fixture
def hostile(tmp_path) -> Path:
    """An image with a symbol whose name would colour a terminal, in a file whose name would too."""
    data = bytearray(HELLO.read_bytes())
    at = data.rindex(b"_start\0")
    data[at : at + 6] = b"\x1b[31m\xff"
    path = tmp_path / "\x1b[32mname\n"
    path.write_bytes(data)
    return path


@pytest.mark.spec("ERR-2", "CLI-2")
@pytest.mark.parametrize("name", ["show", "interfaces", "check", "symbols", "symbolize"])
def test_no_byte_of_a_file_reaches_the_terminal(okld, hostile, name):
    """Names in the file and of the file are escaped, and JSON is ASCII."""
    (entry,) = struct.unpack_from("<Q", hostile.read_bytes(), 24)
    rest = [f"{entry:x}"] if name == "symbolize" else []
    text = okld(name, hostile, *rest)
    assert all(line.isprintable() for line in text.out.splitlines())
    if name.startswith("symbol"):
        assert "\\x1b[31m\\xff" in text.out
    out = okld(name, "--json", hostile, *rest).out
    assert out.isascii()
    assert all(line.isprintable() for line in out.splitlines())


@pytest.mark.spec("CLI-1", "ERR-1")
@pytest.mark.parametrize("name", ["show", "interfaces", "check", "symbols", "symbolize"])
def test_mutants_are_answered_or_refused_in_one_line(okld, name, tmp_path):
    """Bytes changed at random end in a status that the clause knows, and never in a traceback."""
    good = HELLO.read_bytes()
    chance = random.Random(name)
    path = tmp_path / "mutant"
    for _ in range(60):
        data = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 0x7F, 0xFF))
        path.write_bytes(data[: chance.randrange(len(data))] if chance.random() < 0.3 else data)
        ran = okld(name, path, *(["0x10700"] if name == "symbolize" else []))
        assert ran.status in {"symbolize": (0, 1, 2, 3), "symbols": (0, 2), "show": (0, 2)}.get(
            name, (0, 1)
        )
        assert ran.err.count("\n") <= 1


@pytest.mark.spec("SYM-1", "CLI-1")
@pytest.mark.parametrize("name", ["symbols", "symbolize"])
def test_a_file_that_was_cut_is_named_on_standard_error(okld, name, tmp_path):
    """What is still known is the result."""
    path = tmp_path / "cut"
    path.write_bytes(HELLO.read_bytes()[:-64])
    ran = okld(name, path, *(["0x0"] if name == "symbolize" else []))
    assert ran.err == f"okld: {path}: the section headers are not in the file\n"


@pytest.mark.spec("CLI-1")
def test_a_reader_that_goes_away_is_no_error_to_talk_about():
    """`okld symbols FILE | head -1` is quiet."""
    reader, writer = os.pipe()
    os.close(reader)
    ran = spawn("symbols", HELLO, stdout=writer)
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (2, b"")


@pytest.mark.spec("CLI-1")
def test_output_that_cannot_be_written_is_one_line():
    """A full disk is not silence."""
    with open("/dev/full", "wb") as full:
        ran = spawn("symbols", HELLO, stdout=full)
    assert ran.returncode == 2
    assert ran.stderr == b"okld: cannot write standard output: No space left on device\n"


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize("arguments", [("--help",), ("show", "--help"), ("check", HELLO)])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_status_2_for_help_too(arguments, unbuffered):
    """Whether Python holds output back or not."""
    with open("/dev/full", "wb") as full:
        ran = spawn(*arguments, stdout=full, env={"PYTHONUNBUFFERED": unbuffered})
    assert (ran.returncode, ran.stderr.count(b"\n")) == (2, 1)


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize(
    ("arguments", "status"),
    [(("nope",), 2), (("show", "/absent"), 2), (("show", __file__), 2), (("check", HELLO), 0)],
)
def test_a_full_standard_error_changes_no_status(arguments, status):
    """There is nobody left to tell; the status still says what it always says."""
    with open("/dev/full", "wb") as full:
        code = "import sys; from okld.cli.main import main; sys.exit(main())"
        command = [sys.executable, "-c", code, *map(str, arguments)]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        ran = subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=full, check=False)
    assert ran.returncode == status


@pytest.mark.spec("CLI-1")
def test_what_does_not_fit_memory_is_one_line(tmp_path):
    """A sparse file costs its maker nothing."""
    path = tmp_path / "sparse"
    data = bytearray(HELLO.read_bytes())
    (sections,) = struct.unpack_from("<Q", data, 40)
    (count,) = struct.unpack_from("<H", data, 60)
    for at in range(sections, sections + 64 * count, 64):
        if data[at + 4] == 3:  # SHT_STRTAB
            struct.pack_into("<QQ", data, at + 24, 0, 1 << 29)
    path.write_bytes(data)
    os.truncate(path, 1 << 30)
    limit = 1 << 28
    ran = spawn(
        "symbolize",
        path,
        "0",
        stdout=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, b"", b"okld: out of memory\n")


@pytest.mark.spec("CLI-1")
def test_a_closed_output_is_one_line():
    """The status says that nothing was told."""
    ran = spawn("symbols", HELLO, preexec_fn=lambda: os.close(1))
    assert (ran.returncode, ran.stderr) == (2, b"okld: standard output is closed\n")


@pytest.mark.spec("CLI-1")
def test_an_output_of_another_encoding_takes_every_name(tmp_path):
    """What it has no character for is escaped."""
    path = tmp_path / "na\u00efve"
    path.write_bytes(HELLO.read_bytes())
    env = {"PYTHONIOENCODING": "ascii"}
    ran = spawn("check", path, stdout=subprocess.PIPE, env=env)
    assert (ran.returncode, ran.stdout.endswith(b"/na\\xefve: ok\n")) == (0, True)


@pytest.mark.spec("CLI-3")
@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (("--version",), {"argparse", "re", "json", "attr", "lief", "struct"}),
        (("symbolize", HELLO, "0x0"), {"json", "attr", "lief"}),
        (("check", HELLO), {"json", "attr", "lief"}),
    ],
)
def test_a_command_imports_what_it_needs(arguments, absent):
    """Large modules stay out of commands that do without them."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
        "from okld.cli.main import main; main(); "
        "sys.stderr.write(' '.join(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-IB", "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not absent & set(ran.stderr.split())


@pytest.mark.spec("SURF-2")
def test_the_library_has_the_names_that_it_states():
    """And an image opens with what it declares."""
    assert all(getattr(library, name) for name in library.__all__)
    assert library.interface_of("kal_map_file") == "openkal.map"
    image = library.open(HELLO)
    assert "openkal.stream" in image.interfaces.required
    assert repr(library.symbols(HELLO).lookup(image.shape.entry)).startswith("Found(name='_start'")
    with pytest.raises(AttributeError):
        _ = library.nothing
