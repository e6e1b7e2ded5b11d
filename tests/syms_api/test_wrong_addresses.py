"""What is no address is told at once, as what it is; what is one, but nowhere, is a miss."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import okld

OKLD = [sys.executable, "-c", "import okld.cli.main as okld; raise SystemExit(okld.main())"]
LAST = (1 << 64) - 1


@pytest.fixture
def symbols(make):
    with okld.symbols(make()) as made:
        yield made


@pytest.mark.spec("ADR-14")
@pytest.mark.parametrize("wrong", [1.5, "0x10", True, None, b"1", 1j, [1]])
def test_what_is_no_integer(symbols, wrong):
    """Is a TypeError that says what an address is, in one look-up, in many, and in a guess."""
    want = f"an address is an int.*in bytes.*LinkAddr.*got {type(wrong).__name__}"
    for ask in (symbols.lookup, symbols.guess, lambda each: symbols.lookup_many([0x401000, each])):
        with pytest.raises(TypeError, match=want):
            ask(wrong)


@pytest.mark.spec("ADR-14")
@pytest.mark.parametrize("wrong", [-1, LAST + 1, okld.LinkAddr(-1), okld.ImageOffset(1 << 70)])
def test_what_has_no_64_bits(symbols, wrong):
    """Is a ValueError that says what would."""
    want = rf"an address is from 0 to 0xf{{16}}, in bytes \(got {int(wrong):#x}\)"
    for ask in (symbols.lookup, symbols.guess, lambda each: symbols.lookup_many([0x401000, each])):
        with pytest.raises(ValueError, match=want):
            ask(wrong)
    with pytest.raises(ValueError, match=want):
        symbols.lookup(okld.SectionOffset(".text", wrong))


@pytest.mark.spec("ADR-14", "SYM-6")
def test_the_ends_of_all_addresses(symbols):
    """Are addresses, outside of everything."""
    for kind in (okld.LinkAddr, okld.ImageOffset, okld.FileOffset, int):
        assert symbols.lookup(kind(LAST)).name is None
        assert [each.name for each in symbols.lookup_many([kind(0), kind(LAST)])] == [None, None]
    assert symbols.lookup_many([]) == []


@pytest.mark.spec("ADR-3", "SYM-6")
def test_behind_the_last_address(make):
    """A name and an offset that lead there are a miss, and so they are in a log."""
    path = str(make())
    word = "middle+0xffffffffffffffff"
    done = subprocess.run([*OKLD, "symbolize", path, word], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        f"{word} ?? (outside every segment)\n",
        "",
    )
    done = subprocess.run(
        [*OKLD, "symbolize", "--json", path, word], capture_output=True, text=True
    )
    assert json.loads(done.stdout)["reason"] == "outside every segment"
    for frame in (
        f"#1 {path}+0x0",
        f"#1 {path}+0xfffffffffffffffffffff",
        f"#0 {path}+0xfffffffffffffffffffff",
        f"{path}(middle+0xfffffffffffffffffffff) [0x1]",
        f"{path}(+0xfffffffffffffffffffff) [0xffffffffffffffffffffff]",
        f"    #0 0x1 ({path}+0xfffffffffffffffffffff)",
        f"#0  0xffffffffffffffffffffff in ?? () from {path}",
        "middle+0xfffffffffffffffffffff/0xfffffffffffffffffffffff",
        "pc=0xfffffffffffffffffffff",
        "PC=0x0",
        f"    #01 pc fffffffffffffffffffff  {path} (BuildId: 0123456789abcdef)",
        f"\tfffffffffffffffffffff [unknown] ({path})",
        f"  1: 0xfffffffffffffffffffff - <unknown>\n  2: 0x0 - <unknown> {path}",
    ):
        done = subprocess.run(
            [*OKLD, "symbolize", "--module", f"={path}", "--module", f"vmlinux={path}"],
            input=frame,
            capture_output=True,
            text=True,
        )
        assert done.stdout == frame
        assert "Traceback" not in done.stderr
