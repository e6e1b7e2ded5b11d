"""The C headers, as compilers see them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INCLUDE = ROOT / "okld/sdk/include"
STRICT = ["-nostdinc", "-ffreestanding", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
LANGUAGES = [
    ("gcc", "c", "c11"),
    ("gcc", "c", "c17"),
    ("gcc", "c++", "c++17"),
    ("gcc", "c++", "c++20"),
    ("clang", "c", "c11"),
    ("clang", "c", "c17"),
    ("clang", "c++", "c++17"),
    ("clang", "c++", "c++20"),
    ("aarch64-linux-gnu-gcc", "c", "c11"),
]
NOTE = """
#include <openkal/image.h>
#include <openkal/net.h>
#include <openkal/stream.h>
OPENKAL_IMAGE(KAL_IFACE_STREAM, KAL_IFACE_NET, 0x123456789)
KAL_OPTIONAL(kal_net_props)
int strong(void);
int strong(void) { return kal_net_props ? (int)kal_stdout().h : 0; }
"""


def compile_text(how, text, *options):
    compiler, language, standard = how
    command = [compiler, "-x", language, f"-std={standard}", *STRICT, "-I", INCLUDE, *options, "-"]
    subprocess.run(command, input=text, text=True, check=True)


@pytest.mark.spec("SURF-3", "SURF-4")
@pytest.mark.parametrize("how", LANGUAGES, ids="-".join)
def test_headers_say_what_the_contract_says(how):
    """Types, numbers, layouts and prototypes as transcribed by hand compile with the headers."""
    compile_text(how, Path(__file__).with_name("contract.c").read_text(), "-fsyntax-only")


@pytest.mark.spec("SURF-3")
@pytest.mark.parametrize("how", LANGUAGES[::3], ids="-".join)
def test_each_header_stands_alone(how):
    """A source can include any one header first, and alone."""
    for header in sorted((INCLUDE / "openkal").iterdir()):
        text = f"#include <openkal/{header.name}>\n#include <openkal/{header.name}>\n"
        compile_text(how, text, "-fsyntax-only")


@pytest.mark.spec("SURF-3")
def test_headers_include_each_other_only():
    """Every #include of a header names a header beside it."""
    headers = {path.name for path in (INCLUDE / "openkal").iterdir()}
    for header in (INCLUDE / "openkal").iterdir():
        for line in header.read_text().splitlines():
            if line.lstrip().startswith("#include"):
                assert line.split('"')[1] in headers, header


@pytest.mark.spec("SURF-3", "SDK-2")
@pytest.mark.parametrize("how", LANGUAGES, ids="-".join)
def test_a_source_makes_a_note_and_weak_imports(how, tmp_path):
    """OPENKAL_IMAGE makes the note of SPEC chapter 3; KAL_OPTIONAL makes one import weak."""
    compile_text(how, NOTE, "-fPIC", "-c", "-o", tmp_path / "x.o")
    dump = ["objcopy", "-O", "binary", "--only-section=.note.openkal", "--set-section-flags"]
    if how[0].startswith("aarch64"):
        dump[0] = "aarch64-linux-gnu-objcopy"
    subprocess.run([*dump, ".note.openkal=alloc", tmp_path / "x.o", tmp_path / "note"], check=True)
    assert (tmp_path / "note").read_bytes() == bytes.fromhex(
        "08000000 28000000 01000000 6f70656e6b616c00"  # sizes, type, "openkal"
        "01000000 00000000 0000140000000000"  # revision, flags, 0.20.0
        "0200000000000000 0008000000000000 8967452301000000"  # required, optional, stack
    )
    symbols = subprocess.run(["nm", tmp_path / "x.o"], check=True, capture_output=True, text=True)
    assert {tuple(line.split()[-2:]) for line in symbols.stdout.splitlines()} >= {
        ("w", "kal_net_props"),
        ("U", "kal_stdout"),
    }
