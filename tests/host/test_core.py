"""The parts of okhost, each alone: C tests under sanitizers and on AArch64, and fuzzers."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOST = ROOT / "okrun" / "host"


@pytest.mark.spec("ERR-2")
def test_text(build):
    """Text is formatted and cut as asked, and nothing of a file reaches a terminal as it is."""
    subprocess.run(build("text.c", "text"), check=True)


@pytest.mark.spec("PLAN-1", "PLAN-2")
def test_plan(build):
    """A good plan decodes to what was written, every edit is refused; nothing else is read."""
    subprocess.run(build("plan.c", "plan", "text"), check=True)


@pytest.mark.spec("PLAN-3", "RUN-1", "RUN-2", "RUN-4", "NOTE-3")
def test_map(build):
    """Every byte of the range is the file's, zero or inaccessible, and protected as planned."""
    subprocess.run(build("map.c", "map", "text"), check=True)


@pytest.mark.spec("PMAP-4", "RUN-2")
def test_code_of_no_file(build):
    """For perf code is read into memory, unless the system lets none become code; else mapped."""
    subprocess.run(build("detached.c", "text"), check=True)


@pytest.mark.spec("RUN-3")
def test_relocation(build):
    """Every type writes what its ABI says, and no table writes outside the writable segments."""
    subprocess.run(build("reloc.c", "reloc", "text"), check=True)


@pytest.mark.spec("BIND-2", "BIND-3", "BIND-5", "NOTE-4")
def test_binding(build):
    """Names meet the entries that are measured, and what is missing is refused by its name."""
    subprocess.run(build("bind.c", "bind", "text"), check=True)


@pytest.mark.spec("RUN-6")
def test_entry(build):
    """The image has its whole stack, aligned, and need preserve no register."""
    subprocess.run(build("enter.c", "enter", "map", "text"), check=True)


@pytest.mark.spec("SYM-3", "SYM-6", "RI-5")
def test_names(build):
    """Tables longer than a read, names longer than their room, and a file that changed: no name."""
    subprocess.run(build("symbols.c", "symbols", "symtab", "map", "text"), check=True)


@pytest.mark.spec("CRASH-1", "CRASH-2", "REP-2", "STAT-1", "RUN-7")
def test_fatal_signals(build):
    """Faults are reported and end by their signal; what is ignored stays ignored."""
    parts = ("fault", "crash", "symbols", "symtab", "map", "plan", "text", "enter")
    subprocess.run(build("fault.c", *parts), check=True)


def fuzz(name, part, runs, place):
    """Build tests/host/NAME.c for libFuzzer and run it from a fixed seed."""
    program = place / name
    flags = ["-std=gnu11", "-g", "-O1", "-fsanitize=fuzzer,address,undefined"]
    flags += ["-fno-sanitize-recover=all", "-I", HOST]
    sources = [Path(__file__).with_name(f"{name}.c"), HOST / f"{part}.c", HOST / "text.c"]
    subprocess.run(["clang", *flags, *sources, "-o", program], check=True)
    options = [f"-runs={runs}", "-seed=1", "-max_len=1024", f"-artifact_prefix={place}/"]
    subprocess.run([program, *options], check=True, stderr=subprocess.PIPE)


@pytest.mark.spec("PLAN-2")
def test_any_bytes_as_a_plan(tmp_path):
    """Mutants of a good plan are refused, or hold what the format promises."""
    fuzz("fuzz_plan", "plan", 100_000, tmp_path)


@pytest.mark.spec("RUN-3")
def test_any_relocation_tables(tmp_path):
    """Tables of any content leave all but the writable segments as it was."""
    fuzz("fuzz_reloc", "reloc", 10_000, tmp_path)
