"""Traps of debug information."""

from __future__ import annotations

import sys

import pytest

import okld


@pytest.mark.spec("DBG-1")
def test_trap_21_compressed_sections_are_read(right):
    """By zlib, in the old form with `.zdebug` names, and by zstd."""
    right(21)


@pytest.mark.spec("DBG-3")
def test_trap_21_without_zstd_the_name_stays_and_the_package_is_told(right, monkeypatch):
    """The standard library has zstd from Python 3.14 on."""
    *_, question = right(21)
    assert question.path.name == "zstd.elf"
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with okld.symbols(question.path, options=question.options) as symbols:
        found = symbols.lookup(question.address)
        assert (found.name, found.frames) == ("outermost", ())
        assert any("backports.zstd" in note for note in (*symbols.notes, *found.notes))


@pytest.mark.spec("LIN-2", "LIN-11")
def test_trap_31_files_are_counted_as_the_version_counts_them(right):
    """Versions 2 to 5, with a header in another directory."""
    right(31)


@pytest.mark.spec("LIN-30", "LIN-31", "LIN-32", "LIN-35")
def test_trap_32_split_units_are_found_and_a_lost_one_is_told(right):
    """Lines stay when it is lost."""
    for question in right(32):
        with okld.symbols(question.path, options=question.options) as symbols:
            notes = symbols.lookup(question.address).notes
        assert any("inlined.dwo" in note for note in notes) == ("lost" in question.path.name)


@pytest.mark.spec("LIN-34", "LIN-35")
def test_trap_33_names_are_in_the_alternate_file(right):
    """Where it is lost they are neither empty nor wrong."""
    *_, lost = right(33)
    with okld.symbols(lost.path, options=lost.options) as symbols:
        assert any("alternate" in note for note in symbols.lookup(lost.address).notes)


@pytest.mark.spec("LIN-4")
def test_trap_34_dropped_code_covers_nothing(right):
    """Ranges that begin outside the code are none."""
    right(34)


@pytest.mark.spec("DBG-4")
def test_trap_35_relocations_are_not_applied_twice(right):
    """Only a relocatable file is relocated."""
    right(35)


@pytest.mark.spec("LIN-3")
def test_trap_36_units_are_found_without_aranges(right):
    """The table only makes it faster."""
    right(36)


@pytest.mark.spec("LIN-10")
def test_trap_37_line_0_is_no_line(right):
    """The frame stays, its file too, and the rows around it are not taken for it."""
    right(37)


@pytest.mark.spec("LIN-6", "LIN-8", "ADR-6")
def test_trap_45_names_are_followed_to_where_they_stand(right):
    """A method's declaration, a lambda's function, another unit."""
    _, nested, _ = right(45)
    with okld.symbols(nested.path, options=nested.options) as symbols:
        found = symbols.lookup(nested.address)
    assert [frame.function for frame in found.frames] == ["operator()"]
    assert found.symbol == "_ZZN4deep11with_lambdaEiENKUliE_clEi.constprop.0"
