"""From an admitted image to its plan."""

import os
from types import SimpleNamespace

import pytest

from okld.iface.need import Interfaces
from okld.iface.note import Note
from okrun.admission.decide import Host, decide
from okrun.granting import Grants
from okrun.plan.codec import MEASURE_CALLS
from okrun.plan.make import complete, make, outline

SEGMENTS = (
    SimpleNamespace(offset=0, vaddr=0, filesz=0x500, memsz=0x500, flags=4),
    SimpleNamespace(offset=0x10000, vaddr=0x20000, filesz=0x80, memsz=0x90, flags=6),
)
SHAPE = SimpleNamespace(
    machine=62, arch="x86_64", entry=0x123, size=0x10080, lo=0, hi=0x30000, align=0x20000,
    segments=SEGMENTS,
    relro=(0x20000, 0x10000), init=0x11, fini=0x12, init_array=(0x21, 1), fini_array=(0x22, 2),
    rela=(0x23, 3), jmprel=(0x24, 4), relr=(0x25, 5),
    values=(0, 0x100, 0, 0x77, 0), absolute=(3,),
    imports=(
        SimpleNamespace(index=2, name="kal_exit", weak=False),
        SimpleNamespace(index=4, name="kal_stdout", weak=True),
    ),
    names=(0x26, 6), names_dynamic=True, strings=(0x27, 7), build_id="00ff",
)  # fmt: skip
STATUS = os.stat_result(
    (0o100644, 11, 12, 1, 0, 0, 0x10080, 0, 0, 0, 0.0, 0.0, 0.0, 0, -1, 2**60 + 1)
)


@pytest.fixture
def plan_of(read_plan):
    def plan_of(*, stack=0, measure=0, report_dir=b""):
        note = Note(0x140000, 0b01, 0b10, stack)
        interfaces = Interfaces(note, "note", {"openkal.abort": ["kal_exit"]}, ())
        admitted = decide(SHAPE, interfaces, Host("okhost", 62))
        return read_plan(make(admitted, 5, STATUS, b"dir/\xff.ok", measure, report_dir))

    return plan_of


@pytest.mark.spec("PLAN-1")
def test_header_says_what_the_image_does(plan_of):
    """Every word of the header is the image's, its note's or its file's, under its own name."""
    header = plan_of(measure=MEASURE_CALLS, report_dir=b"out").header
    want = {
        "machine": 62, "file_fd": 5, "file_ino": 11, "file_dev": 12, "file_size": 0x10080,
        "file_mtime_ns": 2**64 - 1, "file_ctime_ns": 2**60 + 1,
        "image_offset": 0, "image_size": 0x10080,
        "lo": 0, "hi": 0x30000, "align": 0x20000, "entry": 0x123,
        "version": 0x140000, "required": 1, "optional": 2,
        "relro": 0x20000, "relro_size": 0x10000, "init": 0x11, "fini": 0x12,
        "init_array": 0x21, "init_count": 1, "fini_array": 0x22, "fini_count": 2,
        "rela": 0x23, "rela_count": 3, "jmprel": 0x24, "jmprel_count": 4,
        "relr": 0x25, "relr_count": 5,
        "names": 0x26, "names_count": 6, "names_dynamic": 1, "strings": 0x27, "strings_size": 7,
        "measure": 2, "segment_count": 2, "symbol_count": 5,
    }  # fmt: skip
    assert {name: header[name] for name in want} == want


@pytest.mark.spec("PLAN-1")
def test_segments_and_strings_are_the_images(plan_of):
    """
    Segments keep offset, address, sizes and permissions; the path and the directory keep their
    bytes.
    """
    plan = plan_of(measure=MEASURE_CALLS, report_dir=b"out/\xfe")
    assert plan.segments == [(0, 0, 0x500, 0x500, 4), (0x10000, 0x20000, 0x80, 0x90, 6)]
    imports = b"kal_exit\0kal_stdout\0"
    assert plan.strings == (b"dir/\xff.ok", b"00ff", b"out/\xfe", b"", b"", b"", imports)


@pytest.mark.spec("PLAN-1", "FS-1")
@pytest.mark.parametrize(
    ("fds", "names", "words"),
    [
        pytest.param((), (), b"\0", id="none"),
        pytest.param((7,), (b".",), b"7\0.\0", id="one"),
        pytest.param((12, 3), (b"a=b", b"\xff"), b"12\0a=b\x003\0\xff\0", id="two, in order"),
    ],
)
def test_directories_and_runner_are_the_starts(read_plan, fds, names, words):
    """The directories that are given and the command that starts another image are in the plan."""
    note = Note(0x140000, 0b01, 0b10, 0)
    admitted = decide(SHAPE, Interfaces(note, "note", {}, ()), Host("okhost", 62))
    rest = (b"out", b"r1", Grants(fds, names).encode(), b"python3\0okrun\0")
    plan = read_plan(complete(outline(admitted), 5, STATUS, 0x20000, b"a.okb:m", 0, rest))
    assert plan.strings[:4] == (b"a.okb:m", b"00ff", b"out", b"r1")
    assert plan.strings[4:] == (words, b"python3\0okrun\0", b"kal_exit\0kal_stdout\0")
    assert plan.header["image_offset"] == 0x20000


@pytest.mark.spec("PLAN-1")
def test_symbols_are_places_values_or_names(plan_of):
    """
    An import's value is where its name starts; an absolute symbol and one of the image keep theirs.
    """
    plan = plan_of()
    assert plan.kinds == bytes((0, 0, 2, 1, 3))
    assert plan.values == (0, 0x100, 0, 0x77, len("kal_exit") + 1)


@pytest.mark.spec("NOTE-3", "PLAN-1")
@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        pytest.param(0, 8 << 20, id="nothing asked: the default"),
        pytest.param(1, 0x10000, id="one byte: a page"),
        pytest.param(0x10001, 0x20000, id="a byte over a page: two"),
        pytest.param(1 << 30, 1 << 30, id="the most"),
    ],
)
def test_stack_is_at_least_what_is_asked_in_whole_pages(plan_of, wanted, given):
    """The stack of the plan is what the note asks, in whole pages."""
    assert plan_of(stack=wanted).header["stack"] == given
