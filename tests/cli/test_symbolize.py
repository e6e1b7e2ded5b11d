"""`okld symbolize`: addresses as words and on standard input, and lines of logs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = """\
static inline __attribute__((always_inline)) int inner(int x)
{
    return x * 3 + 1;
}

__attribute__((noinline)) int middle(volatile int *x)
{
    *x = inner(*x);
    return *x;
}

int _start(void)
{
    volatile int x = 1;
    return middle(&x) + 1;
}
"""
BASE = 0x700000


@pytest.fixture
def program(tmp_path, monkeypatch) -> Path:
    """A program with debug information, in a directory of its own; `middle` begins at 0x701000."""
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(SOURCE)
    fixed = ["-nostdlib", "-static", "-no-pie", "-fcf-protection=none", "-Wl,--build-id=none"]
    options = [f"-Wl,-Ttext-segment={BASE:#x}", "-g", "-O1", "-ffile-prefix-map=.=/src"]
    subprocess.run(["gcc", *fixed, *options, f"{tmp_path}/a.c", "-o", "a.out"], check=True)
    return tmp_path / "a.out"


@pytest.fixture
def inlined(program) -> int:
    """An address of `inner`, where it is inlined into `middle`, as addr2line tells."""
    for address in range(0x701000, 0x701040):
        command = ["addr2line", "-ie", program, f"{address:#x}"]
        if subprocess.check_output(command).count(b"\n") == 2:
            return address
    raise AssertionError


def spawn(*arguments: object, **options) -> subprocess.Popen:
    """Start `okld symbolize` as a process of its own."""
    code = "import sys; from okld.cli.main import main; sys.exit(main())"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, "symbolize", *map(str, arguments)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=env, **{**pipes, **options})


def feed(text: str | bytes, *arguments: object) -> tuple[int, str, str]:
    """Give `okld symbolize` *text* on standard input."""
    with spawn(*arguments) as process:
        data = text.encode() if isinstance(text, str) else text
        out, err = process.communicate(data, timeout=60)
    return process.returncode, out.decode(), err.decode()


@pytest.mark.spec("ADR-8")
def test_a_line_has_the_name_and_the_place(okld, program, inlined):
    """Of the innermost function, which is named where it is an inlined one."""
    source = program.with_suffix(".c").parent / "a.c"
    ran = okld("symbolize", program, "701000", f"{inlined:x}")
    first, second = ran.out.splitlines()
    assert re.fullmatch(rf"0x701000 middle\+0x0 {source}:\d+:\d+", first)
    offset = inlined - 0x701000
    assert re.fullmatch(rf"{inlined:#x} middle\+{offset:#x} {source}:3:\d+ in inner", second)
    text = okld("symbolize", "-i", program, f"{inlined:x}").out.splitlines()
    assert text[0] == second
    assert re.fullmatch(rf"    inlined at {source}:8:\d+ in middle", text[1])
    assert okld("symbolize", "--no-lines", program, "701000").out == "0x701000 middle+0x0\n"


@pytest.mark.spec("ADR-8", "CLI-2")
def test_an_object_has_the_frames(okld, program, inlined):
    """Innermost first."""
    (got,) = okld("symbolize", "--json", program, f"{inlined:x}").objects
    assert [frame["function"] for frame in got["frames"]] == ["inner", "middle"]
    assert [frame["inlined"] for frame in got["frames"]] == [True, False]
    assert [frame["line"] for frame in got["frames"]] == [3, 8]
    assert (got["name"], got["symbol"], got["demangled"]) == ("middle", "middle", "middle")
    assert (got["module"], got["version"], got["approximate"]) == (str(program), None, False)
    assert got["source"] == ".symtab"


@pytest.mark.spec("ADR-2")
@pytest.mark.parametrize(
    ("options", "address"),
    [
        ([], "701000"),
        ([], "1000"),
        (["--absolute"], "701000"),
        (["--relative"], "1000"),
        (["--file-offset"], "1000"),
    ],
)
def test_numbers_are_of_the_kind_that_is_stated_or_fits(okld, program, options, address):
    """Each of these is where the function begins."""
    ran = okld("symbolize", "--no-lines", *options, program, address)
    assert ran == (0, f"0x{address} middle+0x0\n", "")


@pytest.mark.spec("ADR-2")
@pytest.mark.parametrize(("option", "address"), [("--absolute", "1000"), ("--relative", "701000")])
def test_a_kind_that_is_stated_is_not_guessed(okld, program, option, address):
    """What lies outside is a miss."""
    ran = okld("symbolize", option, program, address)
    assert ran == (1, f"0x{address} ?? (outside every segment)\n", "")


@pytest.mark.spec("ADR-3", "ADR-4")
def test_a_name_and_an_offset(okld, program):
    """Is answered as it was asked; a name that is not there is a miss."""
    ran = okld("symbolize", "--no-lines", program, "middle+0x2", "nobody+0x2", "1002")
    assert ran == (
        1,
        "middle+0x2 middle+0x2\n"
        "nobody+0x2 ?? (no symbol or section of this name)\n"
        "0x1002 middle+0x2\n",
        "",
    )


@pytest.mark.spec("ADR-5")
def test_addresses_on_standard_input(program):
    """Are answered as words are, whatever their lines end with."""
    want = "0x701000 middle+0x0\n0x9 ?? (between symbols)\n0x701002 middle+0x2\n"
    assert feed("701000\n9\r\nmiddle+0x2", "--no-lines", program) == (
        1,
        want.replace("0x701002", "middle+0x2"),
        "",
    )
    assert feed("0x701000\n9\n701002", "--no-lines", program) == (1, want, "")
    assert feed("", program) == (0, "", "")


@pytest.mark.spec("ADR-5")
@pytest.mark.parametrize("as_json", [False, True])
def test_an_answer_comes_before_the_next_question(program, as_json):
    """Whoever asks through a pipe waits for it."""
    words = ["--json"] if as_json else []
    with spawn(*words, program) as process:
        for address in ("701000", "701002", "middle+0x1"):
            process.stdin.write(f"{address}\n".encode())
            process.stdin.flush()
            assert b"middle" in process.stdout.readline()
        process.stdin.write(b"701003")
        process.stdin.close()
        assert b"middle" in process.stdout.read()
    assert process.returncode == 0


@pytest.mark.spec("ADR-5")
def test_many_addresses_are_answered_as_each_alone(okld, program):
    """Over the ends of what is read at a time."""
    numbers = [0x701000 + at % 40 for at in range(40_000)]
    status, out, _ = feed("".join(f"{number:#x}\n" for number in numbers), program)
    single = {n: okld("symbolize", program, f"{n:x}").out for n in sorted(set(numbers))}
    assert out == "".join(single[number] for number in numbers)
    assert status == any("??" in line for line in single.values())


@pytest.mark.spec("ADR-5")
@pytest.mark.parametrize("words", [["--no-lines"], ["--no-lines", "--json"]])
def test_short_lines_are_answered_too(okld, program, words):
    """Of some hundred thousand of them, more are read than are answered at a time."""
    numbers = [at % 37 for at in range(300_000)]
    _, out, _ = feed("".join(f"{number:x}\n" for number in numbers), *words, program)
    single = {n: okld("symbolize", *words, program, f"{n:x}").out for n in range(37)}
    assert out == "".join(single[number] for number in numbers)


@pytest.mark.spec("ADR-5", "LOG-5")
def test_other_lines_are_those_of_a_log(program):
    """What is no frame passes through, byte for byte, and all stays in its order."""
    log = (
        b"701000\n\n  \t\nhello \xff 12345\r\n    #0 middle+0x2 (a.out+0x701002)\nmiddle+0x2\n"
        b"    #1 _start+0x2 (other+0x701002)\nthe end"
    )
    status, out, err = feed(log.replace(b"\xff", b"?"), program)
    lines = out.splitlines(keepends=True)
    assert status == 1
    assert err == "okld: other: no file of it is here (--module NAME=FILE names one)\n"
    assert lines[0].startswith("0x701000 middle+0x0 ")
    assert lines[1:4] == ["\n", "  \t\n", "hello ? 12345\r\n"]
    assert re.fullmatch(r"    #0 middle\+0x2 \(/\S+a\.c:\d+:\d+\) \(a\.out\+0x701002\)\n", lines[4])
    assert lines[5].startswith("middle+0x2 middle+0x2 ")
    assert lines[6:] == ["    #1 _start+0x2 (other+0x701002)\n", "the end"]


@pytest.mark.spec("ADR-5", "LOG-1")
def test_without_a_file_all_is_a_log(program):
    """A number alone is nothing that it knows."""
    log = f"701000\n\xff    #0 middle+0x2 ({program}+0x701002)\n".encode("latin-1")
    with spawn("--module", f"a.out={program}") as process:
        out, err = process.communicate(log, timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert out.startswith(b"701000\n\xff    #0 middle+0x2 (/")
    assert feed("701000\nx\n") == (0, "701000\nx\n", "")


@pytest.mark.spec("ADR-5", "CLI-1")
def test_objects_are_of_addresses(program):
    """A log cannot become any, and is not answered in part."""
    status, out, err = feed("x\n", "--json")
    assert (status, out, err.count("\n")) == (2, "", 1)
    status, out, err = feed("701000\n\nx\n", "--json", program)
    assert (status, err.count("\n"), "no address: x" in err) == (2, 1, True)
    assert [json.loads(line)["name"] for line in out.splitlines()] == ["middle"]


@pytest.mark.spec("ADR-9")
def test_a_damaged_file_is_a_status_of_its_own(okld, program):
    """Whether the rest of it names the address or not."""
    program.write_bytes(program.read_bytes()[:-400])
    ran = okld("symbolize", program, "701000")
    assert (ran.status, ran.out) == (3, "0x701000 ?? (no symbol table)\n")
    assert ran.err == f"okld: {program}: the section headers are not in the file\n"


@pytest.mark.spec("ADR-10")
def test_verbose_says_what_answered(okld, program):
    """On standard error."""
    ran = okld("symbolize", "-v", "--no-lines", program, "701000")
    assert ran == (0, "0x701000 middle+0x0\n", f"okld: {program}: names from .symtab\n")


@pytest.mark.spec("ADR-8", "LIN-30")
def test_what_was_lost_is_said_once(okld, program):
    """A split file that is gone takes the inlined functions with it, not the lines."""
    fixed = ["-nostdlib", "-static", "-no-pie", "-g", "-gsplit-dwarf", "-O1"]
    subprocess.run(["gcc", *fixed, "a.c", "-o", "split"], check=True)
    for path in Path().glob("*.dwo"):
        path.unlink()
    symbols = subprocess.check_output(["nm", "split"], text=True).split()
    middle = symbols[symbols.index("middle") - 2]
    ran = okld("symbolize", "split", middle, middle)
    assert re.fullmatch(rf"(0x0*{middle.lstrip('0')} middle\+0x0 /\S+a\.c:\d+:\d+\n){{2}}", ran.out)
    assert (ran.status, ran.err.count("\n"), ".dwo" in ran.err) == (0, 1, True)
    (got,) = okld("symbolize", "--json", "split", middle).objects
    assert len(got["notes"]) == 1


@pytest.mark.spec("OKB-28", "ADR-5")
def test_a_member_of_a_bundle_on_standard_input(app):
    """Is named as anywhere."""
    assert feed("2001014\n", f"{app}:aarch64") == (0, "0x2001014 inner+0x4\n", "")


@pytest.mark.spec("DEM-1", "ADR-8")
def test_names_are_for_people_unless_they_are_not_to_be(okld, program):
    """The raw name is in every object."""
    Path("b.cc").write_text("namespace n { int f(int x) { return x; } }")
    fixed = ["-nostdlib", "-shared", "-fcf-protection=none"]
    subprocess.run(["g++", *fixed, "b.cc", "-o", "b.so"], check=True)
    address = subprocess.check_output(["nm", "-D", "b.so"], text=True).split()[0]
    plain = f"0x{address.lstrip('0')}"
    assert okld("symbolize", "b.so", address).out == f"{plain} n::f(int)+0x0\n"
    assert okld("symbolize", "--no-demangle", "b.so", address).out == f"{plain} _ZN1n1fEi+0x0\n"
    (got,) = okld("symbolize", "--json", "b.so", address).objects
    assert (got["name"], got["demangled"]) == ("_ZN1n1fEi", "n::f(int)")


@pytest.mark.spec("CLI-1")
def test_standard_input_that_cannot_be_read_is_one_line(program):
    """And status 2; where it is closed, what is opened next is not taken for it."""
    with open(os.devnull, "wb") as nothing, spawn(program, stdin=nothing) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, b"")
    assert err == b"okld: cannot read standard input: Bad file descriptor\n"
    with spawn(program, stdin=None, preexec_fn=lambda: os.close(0)) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (2, b"", b"okld: standard input is closed\n")


@pytest.mark.spec("IDX-6", "ADR-5")
@pytest.mark.parametrize("options", [[], ["-i"], ["--no-lines"], ["--json"]], ids=" ".join)
def test_an_index_answers_as_the_file_does(okld, program, options):
    """The same text for every address of the program, one by one and together."""
    while time.time_ns() - program.stat().st_ctime_ns < 2.1e9:
        time.sleep(0.05)
    asked = "".join(f"{address:#x}\n" for address in range(0x700FF0, 0x701080))
    asked += "9\n5000000\n1000\n"
    asked *= 8
    without = feed(asked, "--no-index", *options, program)
    assert okld("symbols", "--index", program).status == 0
    assert feed(asked, *options, program) == without
    words = asked.split()[:150:9]
    assert okld("symbolize", *options, program, *words) == okld(
        "symbolize", "--no-index", *options, program, *words
    )


@pytest.mark.spec("ADR-1", "DBG-11")
def test_a_debug_file_that_is_named(okld, program):
    """Is taken without a search; another build's is refused."""
    for name, build_id in (("one", "0xabcd01"), ("other", "0xabcd02")):
        fixed = ["-nostdlib", "-static", "-no-pie", "-g", "-O1", f"-Wl,--build-id={build_id}"]
        subprocess.run(["gcc", *fixed, "a.c", "-o", name], check=True)
    subprocess.run(["strip", "-s", "one", "-o", "bare"], check=True)
    symbols = subprocess.check_output(["nm", "one"], text=True).split()
    middle = symbols[symbols.index("middle") - 2]
    assert okld("symbolize", "bare", middle).status == 1
    assert okld("symbolize", "--debug-file", "one", "bare", middle) == okld(
        "symbolize", "one", middle
    )
    ran = okld("symbolize", "--debug-file", "other", "bare", middle)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "DBG-11" in ran.err


@pytest.mark.spec("SYM-6", "ADR-10")
def test_a_miss_for_want_of_a_debug_file(okld, program, tmp_path):
    """Says that there is none, where it was looked for, and as what."""
    identity = "-Wl,--build-id=0xabcd01"
    fixed = ["-nostdlib", "-shared", "-fPIC", "-fvisibility=hidden", "-g", identity]
    subprocess.run(["gcc", *fixed, "a.c", "-o", "lib.so"], check=True)
    line = subprocess.check_output(["nm", "lib.so"], text=True).split()
    middle = line[line.index("middle") - 2]
    assert okld("symbolize", "--no-lines", "lib.so", middle).err == ""
    subprocess.run(["objcopy", "--only-keep-debug", "lib.so", "lib.debug"], check=True)
    subprocess.run(["strip", "-s", "lib.so"], check=True)
    debug = tmp_path / "debug"
    debug.mkdir()
    ran = okld("symbolize", "--debug-dir", debug, "lib.so", middle, middle)
    assert (ran.status, ran.out.count("\n")) == (1, 2)
    why, names = ran.err.splitlines()
    assert why == f"okld: lib.so: no debug file: none is in {debug}, for build id abcd01"
    assert names.startswith("okld: lib.so: names from ")
    subprocess.run(["objcopy", "--add-gnu-debuglink=lib.debug", "lib.so"], check=True)
    os.unlink("lib.debug")
    ran = okld("symbolize", "--debug-dir", debug, "lib.so", middle)
    assert f"none is in {debug}, for build id abcd01 or debug link lib.debug\n" in ran.err
    ran = okld("symbolize", "--no-external-debug", "lib.so", middle)
    assert "no debug file: no other file is to be read\n" in ran.err
