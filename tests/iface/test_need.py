"""Declared against used."""

from __future__ import annotations

import pytest

from okld.base.errors import Refusal
from okld.iface.need import interfaces_of, require_declared

REQUIRED, OPTIONAL = 16, 24  # offsets into the note's descriptor


@pytest.mark.spec("NEED-1")
def test_import_that_is_not_on_the_surface_is_named(image, shape):
    """printf is no function of the surface: it declares nothing, and is refused by its name."""
    interfaces = interfaces_of(shape(image("bad-import")))
    assert interfaces.unknown == ("printf",)
    assert (interfaces.used, interfaces.required) == ({}, ())
    with pytest.raises(Refusal, match=r"printf.*\[NEED-1\]"):
        require_declared(interfaces)


@pytest.mark.spec("NEED-1", "ERR-2")
def test_name_of_an_import_is_escaped(image, shape):
    """A name that would clear a terminal's screen is shown, not sent."""
    data = image("bad-import")
    at = data.index(b"\0printf\0") + 1
    data[at : at + 6] = b"\x1b[2J\xff\n"
    with pytest.raises(Refusal) as caught:
        require_declared(interfaces_of(shape(data)))
    assert r"\x1b[2J\xff\x0a" in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.spec("NEED-2")
def test_undeclared_interface_and_its_import_are_named(image, shape):
    """undeclared.c declares openkal.stream and calls kal_memory_granularity."""
    interfaces = interfaces_of(shape(image("bad-undeclared")))
    assert interfaces.undeclared == ("openkal.memory",)
    assert interfaces.required == ("openkal.stream",)
    with pytest.raises(Refusal, match=r"kal_memory_granularity.*openkal\.memory.*\[NEED-2\]"):
        require_declared(interfaces)


@pytest.mark.spec("NEED-2")
def test_first_undeclared_import_of_the_symbol_table_is_named(image, shape, edit_note):
    """Of several the first in the symbol table is named, whatever its interface's position."""
    data = edit_note(image("hello"), REQUIRED, "<Q", 0)
    parsed = shape(data)
    first = parsed.imports[0].name
    assert first in ("kal_env_arg_count", "kal_stream_write")  # which one is the linker's choice
    with pytest.raises(Refusal, match=first):
        require_declared(interfaces_of(parsed))


@pytest.mark.spec("NEED-2")
@pytest.mark.parametrize("field", [REQUIRED, OPTIONAL])
def test_declared_in_either_word_is_declared(image, shape, edit_note, field):
    """An interface may be declared required or optional."""
    data = edit_note(image("alloc"), REQUIRED, "<Q", 0)
    require_declared(interfaces_of(shape(edit_note(data, field, "<Q", 1 << 2))))


@pytest.mark.spec("NEED-3")
def test_used_is_what_is_imported(image, shape):
    """What is used comes from the imports, in symbol-table order, whatever is declared."""
    parsed = shape(image("ends"))
    used = interfaces_of(parsed).used
    order = [imported.name for imported in parsed.imports]
    for names in used.values():
        assert list(names) == sorted(names, key=order.index)
    assert sorted(used["openkal.abort"]) == ["kal_abort", "kal_exit"]


@pytest.mark.spec("NEED-3")
def test_declared_and_not_used_is_no_fault(image, shape, edit_note):
    """An image may declare an interface that it does not use."""
    interfaces = interfaces_of(shape(edit_note(image("alloc"), OPTIONAL, "<Q", 1 << 11)))
    require_declared(interfaces)
    assert interfaces.optional == ("openkal.net",)
    assert list(interfaces.used) == ["openkal.memory"]


@pytest.mark.spec("NEED-3", "SURF-2")
def test_functions_of_no_interface_need_no_declaration(image, shape):
    """weak.c calls kal_interfaces, which belongs to no interface."""
    parsed = shape(image("weak"))
    assert "kal_interfaces" in [imported.name for imported in parsed.imports]
    interfaces = interfaces_of(parsed)
    require_declared(interfaces)
    assert "kal_interfaces" not in [n for names in interfaces.used.values() for n in names]
    assert interfaces.unknown == ()
