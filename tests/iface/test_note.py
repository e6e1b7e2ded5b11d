"""The note: what it says, and what is refused of it."""

from __future__ import annotations

import struct

import pytest

from okld.base.errors import FormatError
from okld.iface.need import interfaces_of
from okld.iface.note import Note, read_note

# Offsets into the descriptor, by SPEC chapter 3.
REVISION, FLAGS, VERSION, REQUIRED, OPTIONAL, STACK = 0, 4, 8, 16, 24, 32
STREAM_ENV = 1 << 1 | 1 << 3  # what hello.c declares


@pytest.mark.spec("NOTE-1")
def test_note_is_what_the_source_declares(image, shape):
    """hello.c declares two interfaces, no stack, and the headers' version."""
    note = read_note(shape(image("hello")))
    assert (note.version, note.required, note.optional) == (0x140000, STREAM_ENV, 0)
    assert note.stack == 0


@pytest.mark.spec("NOTE-1")
def test_note_is_read_field_by_field(image, shape, edit_note):
    """Each field comes from its own place."""
    data = image("hello")
    for at, number in (
        (VERSION, 0x700030002),
        (REQUIRED, 1 << 18),
        (OPTIONAL, 5),
        (STACK, 1 << 30),
    ):
        edit_note(data, at, "<Q", number)
    note = read_note(shape(data))
    assert note.version == 0x700030002
    assert (note.required, note.optional, note.stack) == (1 << 18, 5, 1 << 30)


@pytest.mark.spec("NOTE-1")
def test_encoded_note_is_that_of_the_image(image):
    """Encoding what hello.c declares gives the bytes that its compiler made."""
    assert Note(0x140000, STREAM_ENV, 0, 0).encode() in image("hello")


@pytest.mark.spec("NOTE-1", "NOTE-2", "NOTE-3")
@pytest.mark.parametrize(
    ("rule", "at", "form", "number"),
    [
        pytest.param("NOTE-1", REVISION, "<I", 0, id="revision-0"),
        pytest.param("NOTE-1", REVISION, "<I", 2, id="revision-2"),
        pytest.param("NOTE-1", FLAGS, "<I", 1, id="flags"),
        pytest.param("NOTE-2", REQUIRED, "<Q", 1 << 19, id="required-19"),
        pytest.param("NOTE-2", OPTIONAL, "<Q", 1 << 63, id="optional-63"),
        pytest.param("NOTE-2", OPTIONAL, "<Q", 1 << 3, id="both"),
        pytest.param("NOTE-3", STACK, "<Q", (1 << 30) + 1, id="stack"),
        pytest.param("NOTE-3", STACK, "<Q", (1 << 64) - 1, id="stack-most"),
    ],
)
def test_bad_field_is_refused(image, shape, edit_note, rule, at, form, number):
    """A field that SPEC does not allow is an error with its rule, at the note."""
    data = image("hello")
    place = data.index(b"openkal\0") - 12
    with pytest.raises(FormatError, match=rf"\[{rule}\]") as caught:
        read_note(shape(edit_note(data, at, form, number)))
    assert (caught.value.rule, caught.value.at) == (rule, place)


@pytest.mark.spec("NOTE-1")
def test_second_note_is_refused(image, shape):
    """The build id's note, renamed, is a second openkal note, unless it is of another type."""
    data = image("hello")
    header = struct.pack("<III4s", 4, 20, 3, b"GNU\0")
    assert data.count(header) == 1
    at = data.index(header)
    # name size 8 takes the first 4 bytes of the build id: 16 bytes are left for the descriptor.
    struct.pack_into("<III8s", data, at, 8, 16, 7, b"openkal\0")
    assert read_note(shape(data)) is not None
    struct.pack_into("<I", data, at + 8, 1)
    with pytest.raises(FormatError, match="second") as caught:
        read_note(shape(data))
    assert (caught.value.rule, caught.value.at) == ("NOTE-1", at)


@pytest.mark.spec("NOTE-1")
def test_descriptor_of_another_size_is_refused(image, shape):
    """A descriptor of 39 bytes is refused, although the one that pads it to 40 is there."""
    data = image("hello")
    struct.pack_into("<I", data, data.index(b"openkal\0") - 8, 39)
    with pytest.raises(FormatError, match=r"size \(got 0x27, limit 0x28"):
        read_note(shape(data))


@pytest.mark.spec("NOTE-5")
def test_without_a_note_the_imports_declare(image, shape):
    """copy.c has no note; it imports functions of openkal.stream, none of them weakly."""
    data = shape(image("copy"))
    assert read_note(data) is None
    interfaces = interfaces_of(data)
    assert (interfaces.required, interfaces.optional) == (("openkal.stream",), ())
    assert (interfaces.version, interfaces.stack) == (0x140000, 0)
    assert interfaces.declared_by == "imports"


@pytest.mark.spec("NOTE-5")
def test_without_a_note_weak_imports_are_optional(image, shape):
    """With its note renamed away weak.c's weak imports are optional, those not weak required."""
    data = image("weak")
    data[data.index(b"openkal\0")] = ord("O")
    interfaces = interfaces_of(shape(data))
    assert interfaces.required == ("openkal.stream",)
    assert interfaces.optional == ("openkal.random", "openkal.net", "openkal.map")
    assert interfaces.required_word == 1 << 1
    assert interfaces.optional_word == 1 << 5 | 1 << 11 | 1 << 15
