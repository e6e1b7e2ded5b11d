"""Units written byte by byte: functions, inlined calls, names, and every form there is."""

from __future__ import annotations

import struct

import pytest
from dwarf_bytes import (
    ADDR,
    BLOCK,
    CALL_COLUMN,
    CALL_LINE,
    CHILDREN,
    COMPILE_UNIT,
    DATA1,
    DATA2,
    DATA8,
    HIGH,
    IMPLICIT,
    INDIRECT,
    INLINED,
    LEAF,
    LINKAGE,
    LOW,
    NAME,
    NAMESPACE,
    ORIGIN,
    REF4,
    REF_ADDR,
    SIBLING,
    SPECIFICATION,
    STRING,
    SUBPROGRAM,
    TEXT,
    UDATA,
    abbrevs,
    dwarf,
    header_size,
    sleb,
    uleb,
    unit,
)

from okld.syms.dwarf import frames

LOW_TEXT, HIGH_TEXT = TEXT
ROOT = (COMPILE_UNIT, CHILDREN, (LOW, ADDR), (HIGH, DATA8))
ROOT_BYTES = b"\1" + struct.pack("<QQ", LOW_TEXT, HIGH_TEXT - LOW_TEXT)
FUNCTION = (SUBPROGRAM, CHILDREN, (NAME, STRING), (LOW, ADDR), (HIGH, DATA8))
VENDOR = 0x3FFF
"""An attribute that nothing asks for."""

FORMS = {
    0x03: b"\2\0zz",
    0x04: b"\3\0\0\0zzz",
    0x05: b"zz",
    0x06: b"zzzz",
    0x07: b"zzzzzzzz",
    0x08: b"zz\0",
    0x09: uleb(200) + b"z" * 200,
    0x0A: b"\3zzz",
    0x0B: b"z",
    0x0C: b"\1",
    0x0D: sleb(-300),
    0x0E: None,
    0x0F: uleb(1 << 40),
    0x10: None,
    0x11: b"z",
    0x12: b"zz",
    0x13: b"zzzz",
    0x14: b"zzzzzzzz",
    0x15: uleb(300),
    0x16: uleb(0x0A) + b"\2zz",
    0x17: None,
    0x18: b"\2zz",
    0x19: b"",
    0x1A: uleb(300),
    0x1B: uleb(300),
    0x1C: b"zzzz",
    0x1D: None,
    0x1E: b"z" * 16,
    0x1F: None,
    0x20: b"z" * 8,
    0x22: uleb(300),
    0x23: uleb(300),
    0x24: b"z" * 8,
    0x25: b"z",
    0x26: b"zz",
    0x27: b"zzz",
    0x28: b"zzzz",
    0x29: b"z",
    0x2A: b"zz",
    0x2B: b"zzz",
    0x2C: b"zzzz",
    0x1F01: uleb(300),
    0x1F02: uleb(300),
    0x1F20: None,
    0x1F21: None,
}
"""By form a value of it; None: as long as an offset. DWARF 5, 7.5.6, and GCC's four."""


def function(name: bytes, low: int, size: int, *, number: int = 2) -> bytes:
    return uleb(number) + name + b"\0" + struct.pack("<QQ", low, size)


def names(found) -> list[str]:
    assert not found.notes
    return [frame.function for frame in found.frames]


@pytest.mark.spec("LIN-2")
@pytest.mark.parametrize("wide", [False, True], ids=["32", "64"])
@pytest.mark.parametrize("form", FORMS, ids=hex)
def test_every_form_is_stepped_over(form, wide):
    """A value of it stands before those that are asked for, in the root, a function, a leaf."""
    value = FORMS[form]
    if value is None:
        value = b"z" * (8 if wide else 4)
    declared = abbrevs(
        (COMPILE_UNIT, CHILDREN, (VENDOR, form), (LOW, ADDR), (HIGH, DATA8)),
        (SUBPROGRAM, CHILDREN, (VENDOR, form), (NAME, STRING), (LOW, ADDR), (HIGH, DATA8)),
        (0x34, LEAF, (VENDOR, form)),
        (0x13, CHILDREN, (VENDOR, form)),
    )
    root = b"\1" + value + struct.pack("<QQ", LOW_TEXT, HIGH_TEXT - LOW_TEXT)
    leaf, kind = b"\3" + value, b"\4" + value + b"\3" + value + b"\0"
    first = b"\2" + value + b"first\0" + struct.pack("<QQ", 0x1000, 16) + leaf + b"\0"
    second = b"\2" + value + b"second\0" + struct.pack("<QQ", 0x1010, 16) + b"\0"
    body = root + leaf + kind + first + kind + second + b"\0"
    for version in (4, 5):
        made = {"info": unit(body, version, wide=wide), "abbrev": declared}
        assert names(dwarf(**made).lookup(0x1008)) == ["first"]
        assert names(dwarf(**made).lookup(0x1018)) == ["second"]
        assert names(dwarf(**made).lookup_many([0x1018] * 5)[4]) == ["second"]


@pytest.mark.spec("LIN-2")
def test_constants_of_the_abbreviation_and_forms_of_the_entry_are_values():
    """`DW_FORM_implicit_const` of 0 and of what needs two bytes, and `DW_FORM_indirect`."""
    declared = abbrevs(
        ROOT,
        (SUBPROGRAM, CHILDREN, (NAME, INDIRECT), (LOW, INDIRECT), (HIGH, IMPLICIT, 64)),
        (INLINED, LEAF, (LOW, ADDR), (HIGH, DATA8), (CALL_COLUMN, UDATA), (CALL_LINE, IMPLICIT, 0)),
        (INLINED, LEAF, (LOW, ADDR), (HIGH, DATA8), (CALL_LINE, IMPLICIT, 69)),
    )
    outer = b"\2" + uleb(STRING) + b"outer\0" + uleb(ADDR) + struct.pack("<Q", 0x1000)
    calls = b"\3" + struct.pack("<QQ", 0x1000, 8) + uleb(300)
    calls += b"\4" + struct.pack("<QQ", 0x1008, 8)
    made = {"info": unit(ROOT_BYTES + outer + calls + b"\0\0", 5), "abbrev": declared}
    found = [dwarf(**made).lookup(address) for address in (0x1000, 0x1008, 0x103F)]
    assert [(f.function, f.line, f.column) for lines in found for f in lines.frames] == [
        ("", None, None),
        ("outer", None, 300),
        ("", None, None),
        ("outer", 69, None),
        ("outer", None, None),
    ]
    assert dwarf(**made).lookup(0x1040) is None


@pytest.mark.spec("LIN-6")
def test_of_two_functions_at_one_address_the_first_is_meant():
    """Linkers that fold identical functions leave the entries of both."""
    body = ROOT_BYTES + function(b"one", 0x1000, 8) + b"\0" + function(b"two", 0x1000, 8) + b"\0\0"
    made = {"info": unit(body), "abbrev": abbrevs(ROOT, FUNCTION)}
    assert names(dwarf(**made).lookup(0x1004)) == ["one"]
    assert names(dwarf(**made).lookup_many([0x1004] * 5)[0]) == ["one"]


@pytest.mark.spec("LIN-6")
@pytest.mark.parametrize("around", [SUBPROGRAM, NAMESPACE, 0x13, BLOCK, 0x02])
def test_functions_are_found_inside_of_anything(around):
    """Lambdas and nested functions are in another function, which does not have their address."""
    declared = abbrevs(ROOT, FUNCTION, (around, CHILDREN))
    hidden = b"\3\3" + function(b"within", 0x1100, 16) + b"\0\0\0"
    body = ROOT_BYTES + function(b"other", 0x1000, 16) + hidden + b"\0\0"
    made = {"info": unit(body), "abbrev": declared}
    for found in (dwarf(**made).lookup(0x1108), dwarf(**made).lookup_many([0x1108] * 4)[3]):
        assert names(found) == ["within"]
        assert found.low == 0x1100


@pytest.mark.spec("LIN-7")
def test_a_function_inside_a_function_is_no_inlined_call():
    """The frames of its address end with it, though its entry hangs on another's."""
    body = ROOT_BYTES + function(b"around", 0x1000, 64) + function(b"nested", 0x1010, 16)
    made = {"info": unit(body + b"\0\0\0"), "abbrev": abbrevs(ROOT, FUNCTION)}
    for found in (dwarf(**made).lookup(0x1018), dwarf(**made).lookup_many([0x1018] * 4)[3]):
        assert names(found) == ["nested"]
        assert found.low == 0x1010


NAMED = abbrevs(
    ROOT,
    (SUBPROGRAM, LEAF, (LOW, ADDR), (HIGH, DATA8), (ORIGIN, REF4)),
    (SUBPROGRAM, LEAF, (SPECIFICATION, REF4)),
    (SUBPROGRAM, LEAF, (NAME, STRING), (LINKAGE, STRING)),
    (SUBPROGRAM, LEAF, (NAME, STRING)),
    (SUBPROGRAM, LEAF, (NAME, STRING), (SPECIFICATION, REF4)),
    (SUBPROGRAM, LEAF, (LOW, ADDR), (HIGH, DATA8), (ORIGIN, REF_ADDR)),
)


def instance(origin: int, number: int = 2) -> bytes:
    return uleb(number) + struct.pack("<QQI", 0x1000, 16, origin)


@pytest.mark.spec("LIN-8")
@pytest.mark.parametrize(
    ("last", "name"), [(b"\4plain\0_Zlinked\0", "_Zlinked"), (b"\5plain\0", "plain")]
)
def test_a_name_is_found_at_the_end_of_a_chain(last, name):
    """An instance of an abstract function, which a declaration specifies."""
    first = header_size(4) + len(ROOT_BYTES)
    second = first + len(instance(0))
    body = instance(second) + b"\3" + struct.pack("<I", second + 5) + last
    made = {"info": unit(ROOT_BYTES + body + b"\0"), "abbrev": NAMED}
    assert names(dwarf(**made).lookup(0x1008)) == [name]


@pytest.mark.spec("LIN-8")
def test_a_linkage_name_further_on_is_better_than_a_plain_one_here():
    """Any link of the chain may have it."""
    first = header_size(4) + len(ROOT_BYTES)
    second = first + len(instance(0))
    third = second + len(b"\6plain\0") + 4
    body = instance(second) + b"\6plain\0" + struct.pack("<I", third) + b"\4other\0_Zlinked\0"
    made = {"info": unit(ROOT_BYTES + body + b"\0"), "abbrev": NAMED}
    assert names(dwarf(**made).lookup(0x1008)) == ["_Zlinked"]


@pytest.mark.spec("LIN-8")
@pytest.mark.parametrize("length", [0, 1, 40])
def test_a_chain_that_does_not_end_has_no_name(length):
    """An entry that is an instance of itself, of one that is its own, or of a long chain's."""
    at = header_size(4) + len(ROOT_BYTES)
    body = instance(at + len(instance(0)) if length else at)
    for number in range(length):
        at = header_size(4) + len(ROOT_BYTES) + len(body)
        body += b"\3" + struct.pack("<I", at + (5 if number < length - 1 else 0))
    made = {"info": unit(ROOT_BYTES + body + b"\0"), "abbrev": NAMED}
    (frame,) = dwarf(**made).lookup(0x1008).frames
    assert frame.function == ""


@pytest.mark.spec("LIN-8")
def test_a_name_may_be_in_another_unit():
    """Before the one that refers to it, and behind it."""
    other = unit(b"\5elsewhere\0", 4)
    referring = unit(ROOT_BYTES + instance(header_size(4), 7) + b"\0")
    assert names(dwarf(info=other + referring, abbrev=NAMED).lookup(0x1000)) == ["elsewhere"]
    target = len(referring) + len(other) + header_size(4)
    referring = unit(ROOT_BYTES + instance(target, 7) + b"\0")
    assert names(dwarf(info=referring + other * 2, abbrev=NAMED).lookup(0x1000)) == ["elsewhere"]


@pytest.mark.spec("LIN-1", "LIN-13")
@pytest.mark.parametrize("target", [0, 5, 0x7FFFFFFF, 0xFFFFFFFF])
@pytest.mark.parametrize("number", [2, 7])
def test_a_reference_that_leads_nowhere_costs_the_name_alone(number, target):
    """The function is still there, and the note says what is wrong."""
    made = {"info": unit(ROOT_BYTES + instance(target, number) + b"\0"), "abbrev": NAMED}
    for found in (dwarf(**made).lookup(0x1008), dwarf(**made).lookup_many([0x1008] * 4)[3]):
        (frame,) = found.frames
        assert frame.function == ""
        assert found.low == 0x1000
        assert found.notes[0].startswith("a name cannot be read")


@pytest.mark.spec("LIN-1")
@pytest.mark.parametrize("sibling", [0, 11, "self"])
def test_a_sibling_that_leads_back_is_damage(sibling):
    """A walk would never end."""
    declared = abbrevs(ROOT, (0x13, CHILDREN, (SIBLING, REF4)), FUNCTION)
    target = header_size(4) + len(ROOT_BYTES) if sibling == "self" else sibling
    body = ROOT_BYTES + b"\2" + struct.pack("<I", target) + b"\0"
    body += function(b"behind", 0x1000, 16, number=3) + b"\0\0"
    found = dwarf(info=unit(body), abbrev=declared).lookup(0x1008)
    assert found.frames == ()
    assert "sibling" in found.notes[0]


@pytest.mark.spec("LIN-14")
def test_more_inlined_calls_than_the_limit_are_damage(monkeypatch):
    """Each could be the only child of the one before."""
    monkeypatch.setattr(frames, "MAX_FRAMES", 8)
    declared = abbrevs(ROOT, FUNCTION, (INLINED, CHILDREN, (LOW, ADDR), (HIGH, DATA8)))
    call = b"\3" + struct.pack("<QQ", 0x1000, 8)
    body = ROOT_BYTES + function(b"deep", 0x1000, 16) + call * 9 + b"\0" * 12
    found = dwarf(info=unit(body), abbrev=declared).lookup(0x1000)
    assert "inlined calls" in found.notes[0]


@pytest.mark.spec("LIN-1")
@pytest.mark.parametrize(
    "table",
    [b"", b"\1", abbrevs(ROOT)[:-1], abbrevs((COMPILE_UNIT, LEAF, (LOW, 0x7F))), b"\x81" * 40],
    ids=["none", "cut", "without an end", "a form that is none", "a number without an end"],
)
def test_abbreviations_that_cannot_be_read_are_damage(table):
    """Nothing of the unit can be read without them."""
    body = ROOT_BYTES + function(b"f", 0x1000, 16) + b"\0\0"
    found = dwarf(info=unit(body), abbrev=table).lookup(0x1008)
    assert found.frames == ()
    assert found.notes


@pytest.mark.spec("LIN-13")
@pytest.mark.parametrize("line", [1, 255, 65535, 1 << 31])
def test_numbers_of_calls_are_as_wide_as_they_are(line):
    """Only what no file has is none."""
    form = {1: DATA1, 255: DATA1, 65535: DATA2}.get(line, UDATA)
    value = uleb(line) if form == UDATA else line.to_bytes((form == DATA2 and 2) or 1, "little")
    declared = abbrevs(
        ROOT, FUNCTION, (INLINED, LEAF, (LOW, ADDR), (HIGH, DATA8), (CALL_LINE, form))
    )
    call = b"\3" + struct.pack("<QQ", 0x1000, 8) + value
    body = ROOT_BYTES + function(b"f", 0x1000, 16) + call + b"\0\0"
    _, frame = dwarf(info=unit(body), abbrev=declared).lookup(0x1000).frames
    assert frame.line == line
