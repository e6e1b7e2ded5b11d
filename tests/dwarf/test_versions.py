"""One source by every version, format, width, byte order and compiler: the same answers."""

from __future__ import annotations

import pytest
from dwarf_programs import MARKED, line_of, opened, shown, symbol

GCC = ("gcc", "-nostdlib", "-static", "-fno-pic", "-no-pie", "-O1")
CLANG = ("clang", "-nostdlib", "-static", "-fno-pic", "-no-pie", "-O1")
CLANG_19 = ("clang-19", *CLANG[1:])
CROSS = ("-nostdlib", "-static", "-O1", "-g")
VARIANTS = {
    **{f"gcc-{v}": (*GCC, "-g", f"-gdwarf-{v}") for v in (2, 3, 4, 5)},
    **{f"clang-{v}": (*CLANG, "-g", f"-gdwarf-{v}") for v in (2, 3, 4, 5)},
    "clang-19": (*CLANG_19, "-g"),
    **{f"gcc64-{v}": (*GCC, "-g", f"-gdwarf-{v}", "-gdwarf64") for v in (3, 4, 5)},
    **{f"clang64-{v}": (*CLANG_19, "-g", f"-gdwarf-{v}", "-gdwarf64") for v in (3, 4, 5)},
    **{f"m32-{v}": (*GCC, "-m32", "-g", f"-gdwarf-{v}") for v in (2, 4, 5)},
    "sections": (*GCC, "-g", "-ffunction-sections", "-Wl,--gc-sections"),
    "types-4": (*GCC, "-g", "-gdwarf-4", "-fdebug-types-section"),
    "types-5": (*GCC, "-g", "-gdwarf-5", "-fdebug-types-section"),
    "strict": (*GCC, "-g", "-gdwarf-4", "-gstrict-dwarf"),
    "no-aranges": (*GCC, "-g", "-gno-pubnames", "-gno-as-loc-support"),
    "aarch64": ("aarch64-linux-gnu-gcc", *CROSS),
    "arm": ("arm-linux-gnueabihf-gcc", *CROSS),
    "riscv64": ("riscv64-linux-gnu-gcc", *CROSS),
    "mips": ("mips-linux-gnu-gcc", *CROSS),
    "s390x": ("s390x-linux-gnu-gcc", *CROSS),
    "ppc64": ("powerpc64-linux-gnu-gcc", *CROSS, "-mabi=elfv2"),
    **{f"s390x-{v}": ("s390x-linux-gnu-gcc", *CROSS, f"-gdwarf-{v}") for v in (2, 3, 4)},
    **{f"mips64-{v}": ("mips-linux-gnu-gcc", *CROSS, f"-gdwarf-{v}", "-gdwarf64") for v in (4, 5)},
}


@pytest.mark.spec("LIN-2", "LIN-7", "LIN-8")
@pytest.mark.parametrize("variant", VARIANTS)
def test_inlined_calls_have_the_lines_of_the_source(programs, variant):
    """The innermost frame has the row's line, each outer one the line of the call in it."""
    path = programs.build(MARKED, *VARIANTS[variant])
    dwarf = opened(path)
    inner = ("inner", "marked.c", line_of("inner's"), True)
    middle = ("middle", "marked.c", line_of("middle's"), True)
    outer = ("outer", "marked.c", line_of("outer's"), False)
    want = {
        "at_inner": [inner, middle, outer],
        "at_middle": [("middle", "marked.c", line_of("after"), True), outer],
        "at_outer": [("outer", "marked.c", line_of("last"), False)],
    }
    found = {mark: dwarf.lookup(symbol(path, mark)) for mark in want}
    assert {mark: shown(lines.frames) for mark, lines in found.items()} == want
    thumb = int(variant == "arm")  # bit 0 of a function's symbol says so
    assert {lines.low for lines in found.values()} == {symbol(path, "outer") - thumb}
    assert not any(lines.notes for lines in found.values())


@pytest.mark.spec("LIN-11")
@pytest.mark.parametrize("variant", ["gcc-2", "gcc-4", "gcc-5", "clang-4", "clang-5", "clang-19"])
def test_a_path_is_joined_to_where_it_was_compiled(programs, variant):
    """The name on the command line is relative, and the directory is the compiler's own."""
    path = programs.build(MARKED, *VARIANTS[variant])
    (frame,) = opened(path).lookup(symbol(path, "at_outer")).frames
    assert frame.file == str(path.with_name("marked.c"))


@pytest.mark.spec("LIN-16")
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_table_says_what_one_look_up_says(programs, variant):
    """At every address from the first function to the end of the last."""
    path = programs.build(MARKED, *VARIANTS[variant])
    code = range(symbol(path, "outer"), symbol(path, "_start") + 32)
    dwarf = opened(path)
    single = [dwarf.lookup(address) for address in code]
    many = opened(path).lookup_many(code)
    assert sum(lines is not None for lines in single) > 40
    for one, other in zip(single, many, strict=True):
        assert (one is None) == (other is None)
        if one and other:
            assert (one.frames, one.low) == (other.frames, other.low)
