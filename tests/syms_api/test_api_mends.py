"""What users asked of the library and the command, and got wrong answers to."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import okld

OKLD = [sys.executable, "-c", "import okld.cli.main as okld; raise SystemExit(okld.main())"]
SOURCE = "int leaf(int x) { return x + 1; }\nint _start(void) { return leaf(1); }\n"


def build(place: Path, name: str, *options: str, compiler: str = "gcc") -> str:
    (place / "a.c").write_text(SOURCE)
    command = [compiler, "-g", "-O0", place / "a.c", *options, "-o", place / name]
    subprocess.run(command, check=True)
    return str(place / name)


def ask(*words: str) -> str:
    return subprocess.run([*OKLD, *words], check=True, capture_output=True, text=True).stdout


@pytest.mark.spec("CLI-2", "SYM-15")
def test_json_of_a_relocatable_file_is_json(tmp_path):
    """A value that counts from a section is a number like any other."""
    path = build(tmp_path, "a.o", "-c", "-ffunction-sections")
    got = json.loads(ask("symbolize", "--json", path, ".text.leaf+0x3"))
    assert (got["name"], got["offset"], got["value"]) == ("leaf", 3, 0)


@pytest.mark.spec("ADR-4", "SYM-17")
def test_a_symbol_of_a_program_and_its_debug_file_is_one(tmp_path):
    """A name that both have is answered once."""
    path = build(tmp_path, "lib.so", "-shared", "-fPIC", "-nostdlib")
    debug = str(tmp_path / "lib.debug")
    subprocess.run(["objcopy", "--only-keep-debug", path, debug], check=True)
    subprocess.run(["strip", path], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", path], check=True)
    assert len(ask("symbolize", path, "leaf+0x3").splitlines()) == 1


@pytest.mark.spec("DBG-11")
def test_a_debug_file_for_another_processor_is_refused(tmp_path):
    """Also where neither has a build id by which they could be told apart."""
    options = ("-nostdlib", "-static", "-Wl,--build-id=none")
    path = build(tmp_path, "native", *options, "-no-pie")
    subprocess.run(["strip", path], check=True)
    other = build(tmp_path, "other", *options, compiler="mips-linux-gnu-gcc")
    with (
        okld.symbols(path, options=okld.Options(debug_file=other)) as symbols,
        pytest.raises(okld.Refusal, match="another processor"),
    ):
        symbols.lookup(0x401000)


@pytest.mark.spec("LOG-17")
def test_what_is_this_program_to_its_reader_names_nothing():
    """`/proc/self/exe` in a log was somebody else's program."""
    log = b"/proc/self/exe(+0x1070) [0x4]\n"
    done = subprocess.run([*OKLD, "symbolize"], input=log, capture_output=True)
    assert done.stdout == log


@pytest.mark.spec("LOG-1", "ADR-5")
@pytest.mark.parametrize("length", [300_000, 2_200_000, 4_200_000])
def test_the_end_of_a_long_line_is_no_address(tmp_path, length):
    """However a line is cut into pieces, none of them is asked for; what follows is."""
    path = build(tmp_path, "native", "-nostdlib", "-static", "-no-pie", "-Wl,-Ttext=0x401000")
    line = b"x" * length + b"401000\n"
    done = subprocess.run(
        [*OKLD, "symbolize", path], input=line + b"401000\n", capture_output=True, check=True
    )
    assert done.stdout.startswith(line)
    assert done.stdout[len(line) :].startswith(b"0x401000 leaf+0x0 ")
