"""Traps of files that are stripped, split, cut or damaged, and of what an address means."""

from __future__ import annotations

import pytest

import okld
from okld.base.units import LinkAddr
from okld.syms.options import Options

ALONE = Options(debug_dirs=(), cache=False)


@pytest.mark.spec("SYM-1")
def test_trap_17_names_without_section_headers(right):
    """The dynamic segment names a table, and a hash table of either style counts it."""
    for question in right(17):
        with okld.symbols(question.path, options=ALONE) as symbols:
            assert symbols.source == "DT_SYMTAB"


@pytest.mark.spec("DBG-7", "SYM-17")
def test_trap_18_names_from_a_compressed_second_table(right):
    """A stripped library's own functions are in `.gnu_debugdata`."""
    right(18)


@pytest.mark.spec("DBG-8")
def test_trap_19_a_debug_link_is_followed_to_what_it_was_made_for(right):
    """Not to a file of another CRC-32, and never to itself."""
    right(19)


@pytest.mark.spec("DBG-6", "DBG-9")
def test_trap_20_a_debug_file_is_taken_by_its_build_id(right):
    """Not one that only lies there; and none at all when told so. It is said which answered."""
    known, *_ = right(20)
    with okld.symbols(known.path, options=known.options) as symbols:
        symbols.lookup(known.address)
        assert any(".build-id/11/" in note for note in symbols.notes)


@pytest.mark.spec("SYM-13")
def test_trap_24_offsets_count_from_where_the_image_begins(right):
    """Of a library that is linked to 0x400000, and of an executable."""
    right(24)


@pytest.mark.spec("SYM-14")
def test_trap_25_an_offset_in_the_file_is_no_address(right):
    """The segment that holds it says which; a debug file has no such segments."""
    right(25)


@pytest.mark.spec("SYM-2")
def test_trap_26_a_debug_file_names_addresses_though_its_code_has_no_bytes(right):
    """Sections are judged by their flags."""
    right(26)


@pytest.mark.spec("SYM-15", "SYM-16", "DBG-4")
def test_trap_27_relocatable_files_are_asked_by_section(right):
    """A number that fits several sections is ambiguous, and one section's is not."""
    *_, ambiguous, _ = right(27)
    with okld.symbols(ambiguous.path, options=ALONE) as symbols:
        assert "section" in symbols.lookup(LinkAddr(0)).reason


@pytest.mark.spec("SYM-11", "SYM-15")
def test_trap_28_seventy_thousand_sections_are_told_apart(right):
    """Section 0 counts them, and SHT_SYMTAB_SHNDX says which a symbol is in."""
    right(28)


@pytest.mark.spec("SYM-1", "ADR-6")
def test_trap_29_one_broken_name_costs_one_name(right):
    """It is `<corrupt>`, all others stay, and debug information may know better."""
    right(29)


@pytest.mark.spec("SYM-1", "SYM-10")
def test_trap_30_a_cut_file_is_read_as_far_as_it_goes(right):
    """Names come from the dynamic segment, and the damage is told."""
    (cut,) = right(30)
    with okld.symbols(cut.path, options=ALONE) as symbols:
        symbols.lookup(cut.address)
        assert symbols.damage
