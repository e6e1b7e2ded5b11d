"""Names that overflow a demangler's stack, fill its memory or take it forever."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okld.base.limits import MAX_DEMANGLED, MAX_MANGLED, MAX_MANGLED_HERE
from okld.syms.demangle import demangle, demangle_here, is_short

FACTOR = 25  # of what two bytes may stand for: "So" is 50 long
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

DEEP: dict[str, Callable[[int], str]] = {
    "pointers": lambda n: "_Z1f" + "P" * n + "i",
    "templates": lambda n: "_Z1f" + "1aI" * n + "i" + "E" * n,
    "functions": lambda n: "_Z1f" + "PFv" * n + "v" + "E" * n,
    "expressions": lambda n: "_Z1fIXad" + "ng" * n + "Li1EEEvv",
    "operands": lambda n: "_Z1fIX" + "plLi1E" * n + "Li1EEEvv",
    "local names": lambda n: "_Z" + "Z" * n + "1fv" + "E1g" * n,
    "members": lambda n: "_Z1f" + "M1a" * n + "i",
    "packs": lambda n: "_Z1f" + "Dp" * n + "i",
    "lambdas": lambda n: "_ZN" + "UlvE_" * n + "E",
    "thunks": lambda n: "_Z" + "Thn1_" * n + "1fv",
    "qualifiers": lambda n: "_Z1f" + "VK" * n + "i",
    "unclosed": lambda n: "_Z1f" + "I" * n,
    "rust tuples": lambda n: "_RINvC1a1f" + "T" * n + "a" + "E" * n + "E",
    "rust paths": lambda n: "_R" + "Nv" * n + "C1a" + "1b" * n,
    "legacy parts": lambda n: "_ZN" + "1a" * n + "17h0123456789abcdefE",
    "legacy escapes": lambda n: f"_ZN{4 * n}" + "$LT$" * n + "17h0123456789abcdefE",
    "digits": lambda n: "_ZN" + "9" * n,
    "dots": lambda n: "_Z1fv" + "." * n,
}


def _base(number: int, base: int) -> str:
    digits = ""
    while number or not digits:
        digits = DIGITS[number % base] + digits
        number //= base
    return digits


def _substitution(index: int) -> str:
    return "S_" if index == 0 else f"S{_base(index - 1, 36).upper()}_"


def pairs(levels: int) -> str:
    """Return a C++ name of templates, each with the one before it as both its arguments."""
    name = "_Z1f1aI1bE"  # substitutions: a, b, a<b>
    for last in range(2, levels + 2):
        name += f"S_I{2 * _substitution(last)}E"
    return name


def tuples(levels: int) -> str:
    """Return a Rust name of pairs, each of the one before it twice."""
    name, place = "_RINvC1a1fTaaE", 8
    for _ in range(levels):
        back = f"B{_base(place - 1, 62)}_"
        place = len(name) - 2
        name += f"T{back}{back}E"
    return name + "E"


def packs(levels: int) -> str:
    """Return a C++ name of expansions of a pack in each other."""
    return (
        "_Z1fIJ" + "i" * 50 + "EEv" + "".join(["Dp1aIT_", "DpS_IT_" * (levels - 1)]) + "E" * levels
    )


GROWING = {"pairs": pairs, "tuples": tuples, "packs": packs}


def _in_a_process(code: str, *words: str) -> str:
    """Return what a process of its own prints, which a crash of it does not end us with."""
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=120, input=""
    ).stdout


@pytest.mark.spec("DEM-5")
@pytest.mark.parametrize("which", DEEP)
@pytest.mark.parametrize("length", [MAX_MANGLED_HERE, MAX_MANGLED, 1 << 20])
def test_deep_names(which, length):
    """However deep a name is, there is an answer: what it stands for, or itself."""
    code = """if True:
        import sys
        from test_hostile import DEEP
        from okld.syms.demangle import demangle
        make, length = DEEP[sys.argv[1]], int(sys.argv[2])
        name = make((length - 99) // (len(make(101)) - len(make(100))))
        assert demangle(name) and demangle(name) == demangle(name)
        print(demangle("_Z3fooi"))"""
    here = os.path.dirname(__file__)
    code = f"import sys; sys.path.append({here!r})\n" + code
    assert _in_a_process(code, which, str(length)) == "foo(int)\n"


@pytest.mark.spec("DEM-5")
@pytest.mark.parametrize("which", GROWING)
def test_short_is_short(which):
    """What is demangled in this process is no longer than is said."""
    names = [GROWING[which](levels) for levels in range(1, 60)]
    short = [name for name in names if is_short(name)]
    assert short
    assert all(len(demangle_here(name)) <= FACTOR * MAX_DEMANGLED for name in short)
    assert not is_short(names[-1])


TOKENS = ["S_", "S0_", "S1_", "T_", "T0_", "Dp", "J", "I", "E", "N", "X", "P", "1a", "3foo", "So"]
TOKENS += ["Ss", "C1", "D0", "cv", "F", "v", "i", "Li1E", "sZ", "fl", "Ul_", "E_"]


@pytest.mark.spec("DEM-5")
@given(st.lists(st.sampled_from(TOKENS), max_size=60).map(lambda tokens: "_Z1f" + "".join(tokens)))
def test_whatever_is_short_is_short(name):
    """No order of the parts of a name makes more of it than is said."""
    if is_short(name):
        assert len(demangle_here(name)) <= FACTOR * MAX_DEMANGLED


@pytest.mark.spec("DEM-5")
def test_a_long_name_is_answered_apart():
    """A name with many back references is demangled as any other, though not in this process."""
    name = "_Z1f1aI1bE" + "S1_" * 40
    assert not is_short(name)
    assert demangle(name) == "f(" + ", ".join(["a<b>"] * 41) + ")"


@pytest.mark.spec("DEM-6")
def test_a_failure_is_the_last():
    """Once a name was too much, such names stay as they are, and all others are answered."""
    code = """if True:
        import sys
        from okld.syms.demangle import demangle
        long = "_Z1f1aI1bE" + "S1_" * 40
        assert demangle(long) != long
        bomb = sys.argv[1]
        assert demangle(bomb) == bomb
        print(demangle(long) == long, demangle("_Z3fooi"))"""
    assert _in_a_process(code, pairs(60)) == "True foo(int)\n"


@pytest.mark.spec("DEM-6")
def test_a_fork_has_a_process_of_its_own():
    """After a fork, parent and child each get the answers to their own questions."""
    code = """if True:
        import os
        from okld.syms.demangle import demangle
        def ask(name):
            for _ in range(200):
                answer = demangle(f"_Z1f1aI{len(name)}{name}E" + "S1_" * 40)
                assert answer == "f(" + ", ".join([f"a<{name}>"] * 41) + ")", answer
        ask("both")
        child = os.fork()
        ask("parent" if child else "child")
        if child:
            print(os.waitpid(child, 0)[1])
        """
    assert _in_a_process(code) == "0\n"


@pytest.mark.spec("DEM-6")
def test_without_a_process_apart():
    """Where no process can be started, such names stay as they are."""
    code = """if True:
        import sys
        from okld.syms.demangle import demangle
        sys.executable = "/nonexistent"
        name = "_Z1f1aI1bE" + "S1_" * 40
        print(demangle(name) == name, demangle("_Z3fooi"))"""
    assert _in_a_process(code) == "True foo(int)\n"
