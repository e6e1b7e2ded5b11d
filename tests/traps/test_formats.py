"""Traps of other processors than this one, and of other formats than ELF."""

from __future__ import annotations

import pytest
from trap_shop import at

import okld
from okld.base.units import LinkAddr
from okld.syms.options import Options


@pytest.mark.spec("SYM-18")
def test_trap_38_a_function_is_where_its_descriptor_says(right):
    """64-bit PowerPC's symbols name descriptors in `.opd`."""
    right(38)


@pytest.mark.spec("LIN-2", "SYM-1")
def test_trap_39_class_and_byte_order_decide_every_read(right):
    """Most significant byte first, 32 bits, and code at the end of the address space."""
    right(39)


@pytest.mark.spec("OBJ-2", "OBJ-3", "OBJ-4", "OBJ-5")
def test_trap_40_a_fat_file_is_asked_for_one_of_its_programs(right):
    """Underscores are not part of names; debug information has the program's UUID."""
    questions = right(40)
    fat = next(q for q in questions if q.path.name == "fat.dylib")
    with pytest.raises(okld.OkError, match="arm64"):
        okld.symbols(fat.path, options=Options(debug_dirs=(), cache=False)).lookup(fat.address)


@pytest.mark.spec("OBJ-3")
def test_trap_40_a_stub_is_not_the_function_before_it(right):
    """It calls what is in another library."""
    question = right(40)[0]
    with okld.symbols(question.path, options=question.options) as symbols:
        stub = symbols.lookup(LinkAddr(at(question.path, "_hidden", 12)))
    assert stub.name not in ("hidden", "mainf")


@pytest.mark.spec("OBJ-6", "OBJ-7")
def test_trap_41_portable_executables_by_address_and_by_offset(right):
    """Sections with long names are read, and absolute symbols are no places."""
    right(41)


@pytest.mark.spec("OBJ-8", "OBJ-9")
def test_trap_42_an_export_ends_where_its_function_does(right):
    """`.pdata` bounds it, what follows is nobody's, and a forwarder is no code."""
    exported, *_ = right(42)
    with okld.symbols(exported.path, options=exported.options) as symbols:
        assert symbols.lookup(exported.address).symbol == "exported"
