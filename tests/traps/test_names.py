"""Traps of symbol tables: each has one right answer, whatever other tools say."""

from __future__ import annotations

import pytest
from trap_shop import at

import okld
from okld.base.units import LinkAddr


def found(path, address):
    with okld.symbols(path) as symbols:
        return symbols.lookup(LinkAddr(address), lines=False)


@pytest.mark.spec("SYM-4")
def test_trap_1_a_function_of_size_0_reaches_to_the_next(right):
    """Its size is unknown, not nothing."""
    right(1)


@pytest.mark.spec("SYM-4")
def test_trap_2_a_label_does_not_split_a_function(right):
    """The sized function that covers the address is the answer, on the label and behind it."""
    right(2)


@pytest.mark.spec("SYM-3")
def test_trap_3_behind_a_nested_function_the_outer_one_holds_again(right):
    """The innermost that covers the address is the answer."""
    right(3)


@pytest.mark.spec("SYM-5")
def test_trap_4_of_aliases_the_global_one_is_the_name(right):
    """The others are told beside it, in order."""
    (question,) = right(4)
    answer = found(question.path, question.address)
    assert answer.aliases == ("aa_weak", "zz_local")


@pytest.mark.spec("SYM-5", "ADR-6")
def test_trap_5_of_two_globals_one_is_the_name_every_time(right):
    """The first in the table; of folded functions the one that has debug information."""
    table, folded = right(5)
    for question in (table, folded):
        with okld.symbols(question.path) as symbols:
            one = symbols.lookup(question.address)
            (other,) = symbols.lookup_many([question.address])
        assert (one.name, one.symbol, one.aliases) == (other.name, other.symbol, other.aliases)


@pytest.mark.spec("SYM-3", "SYM-6")
def test_trap_6_padding_belongs_to_nobody(right):
    """A function of four bytes has no sixteenth byte."""
    _, padding = right(6)
    assert found(padding.path, padding.address).reason == "between symbols"


@pytest.mark.spec("SYM-2")
def test_trap_8_mapping_symbols_are_no_names(right):
    """What they mark belongs to the function that they are in."""
    right(8)


@pytest.mark.spec("SYM-19")
def test_trap_9_thumb_functions_begin_at_even_addresses(right):
    """Bit 0 of their symbols, and of what is asked, says how the processor runs them."""
    right(9)


@pytest.mark.spec("SYM-5", "SYM-8", "ADR-6")
def test_trap_10_an_ifunc_names_its_resolver(right):
    """Debug information has the resolver's name; a table alone the IFUNC's, and its kind."""
    bare, _ = right(10)
    assert found(bare.path, bare.address).kind == "ifunc"


@pytest.mark.spec("SYM-2")
def test_trap_11_a_thread_local_symbol_has_no_address(right):
    """Its value is an offset, which is the address of a function by chance."""
    right(11)


@pytest.mark.spec("SYM-3", "SYM-8")
def test_trap_12_data_among_code_is_data(right):
    """Neither the function before it, nor code."""
    (table,) = right(12)
    assert found(table.path, table.address).kind == "object"


@pytest.mark.spec("SYM-2")
def test_trap_13_absolute_symbols_are_no_places(right):
    """Constants of a linker script and the names of versions are numbers."""
    right(13)


@pytest.mark.spec("SYM-3", "SYM-6")
def test_trap_14_behind_the_last_symbol_there_is_none(right):
    """Neither one byte behind it nor behind its section."""
    right(14)


@pytest.mark.spec("SYM-12")
def test_trap_15_stubs_have_the_names_of_what_they_call(right):
    """In `.plt`, `.plt.sec` and `.plt.got` alike."""
    for question in right(15):
        assert found(question.path, question.address).kind == "plt"


@pytest.mark.spec("SYM-3", "SYM-6")
def test_trap_16_a_function_without_a_name_is_not_the_one_before_it(right):
    """Sizes in `.dynsym` say where the exported ones end."""
    hidden, _ = right(16)
    assert found(hidden.path, hidden.address).reason == "between symbols"


@pytest.mark.spec("SYM-9")
def test_trap_22_a_name_is_the_same_from_both_tables(right):
    """The version is told apart from it."""
    whole_old, whole_new, *_ = right(22)
    told = [found(q.path, q.address) for q in (whole_old, whole_new)]
    assert [(each.symbol, each.version) for each in told] == [("foo", "V1"), ("foo", "V2")]


@pytest.mark.spec("ADR-6", "ADR-7")
def test_trap_23_a_clone_has_the_name_of_its_function(right):
    """The symbol stays the clone's, and the offset counts from it."""
    cold, clone, _ = right(23)
    assert found(cold.path, cold.address).symbol == "warm.cold"
    assert at(clone.path, "specialised.constprop.0") == clone.address
    assert found(clone.path, clone.address).symbol == "specialised.constprop.0"
