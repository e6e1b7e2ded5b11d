"""`okld build`: what comes out, and when nothing does."""

from __future__ import annotations

import os
import subprocess

import pytest

from okld.base.errors import FormatError, OkError, Refusal, Unreadable
from okld.base.view import View
from okld.iface.need import interfaces_of
from okld.iface.note import read_note
from okld.image.shape import read_shape
from okld.sdk.build import build

HELLO = """
#include <openkal/openkal.h>
int main(int argc, char** argv)
{
    kal_stream_write(kal_stdout(), argv[argc - 1], 1);
    return 0;
}
"""
NOTED = """
#include <openkal/image.h>
#include <openkal/openkal.h>
OPENKAL_IMAGE(KAL_IFACE_ABORT | KAL_IFACE_STREAM, KAL_IFACE_NET, 123456)
KAL_OPTIONAL(kal_net_props)
int _start(void) { return kal_net_props ? kal_stream_flush(kal_stdout()) : 1; }
"""
BARE = "int _start(void) { return 7; }"


def readelf(*arguments) -> str:
    command = ["readelf", "-W", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def shape_of(path):
    return read_shape(View.of_bytes(path.read_bytes()))


@pytest.mark.spec("SDK-1", "SDK-2", "SDK-3")
@pytest.mark.parametrize(
    ("target", "cc", "machine"),
    [
        (None, None, "X86-64"),
        ("x86_64", "clang", "X86-64"),
        ("x86_64", "clang -fuse-ld=lld", "X86-64"),
        ("aarch64", None, "AArch64"),
        ("aarch64", "clang --target=aarch64-linux-gnu", "AArch64"),
        (None, "aarch64-linux-gnu-gcc", "AArch64"),
    ],
)
@pytest.mark.parametrize("options", [[], ["-O2", "-g"], ["-Os"]], ids=str)
def test_compilers_and_targets_make_images(write, tmp_path, target, cc, machine, options):
    """gcc and clang, GNU ld and lld, both processors: the gate admits what they make."""
    path = tmp_path / "hello.ok"
    made = build([write("hello.c", HELLO)], path, target=target, cc=cc, options=options)
    assert machine in readelf("-h", path)
    assert made.required == ("openkal.stream", "openkal.env")
    assert interfaces_of(shape_of(path)).used == made.used


@pytest.mark.spec("SDK-1")
def test_image_is_laid_out_for_any_page_size(write, tmp_path):
    """Each permission has a segment, without a gap in the file: a program is below 16 KiB."""
    path = tmp_path / "hello.ok"
    build([write("hello.c", HELLO)], path, options=["-O2"])
    loads = [line.split() for line in readelf("-l", path).splitlines() if "LOAD " in line]
    assert [line[-2] if line[-3] != "R" else "RE" for line in loads] == ["R", "RE", "RW", "RW"]
    assert {line[-1] for line in loads} == {"0x10000"}
    end = 0
    for line in loads:
        offset, vaddr, _, filesz = (int(word, 16) for word in line[1:5])
        assert end <= offset < end + 64
        assert vaddr % 0x10000 == offset
        end = offset + filesz
    assert path.stat().st_size < 16 << 10


@pytest.mark.spec("SDK-1")
@pytest.mark.parametrize("cc", ["gcc", "clang -fuse-ld=lld"])
def test_image_keeps_what_tools_read(write, tmp_path, cc):
    """There is a build id, a symbol table with sizes, unwind information, and no symbol version."""
    path = tmp_path / "hello.ok"
    build([write("hello.c", HELLO)], path, cc=cc)
    text = readelf("-a", path)
    assert "Build ID: " in text
    assert ".eh_frame" in text
    assert "VERSYM" not in text
    assert "NEEDED" not in text
    sizes = {line.split()[7]: line.split()[2] for line in text.splitlines() if " FUNC " in line}
    assert int(sizes["main"]) > 0
    assert int(sizes["_start"]) > 0


@pytest.mark.spec("SDK-1")
def test_large_alignments_and_all_kinds_of_data_are_admitted(write, tmp_path):
    """Data that begins where a page does, in every segment, leaves the segments apart."""
    kinds = "".join(
        f"{kind} __attribute__((aligned({align}))) a{number}_{align}[{size}] = {value};\n"
        for number, (kind, value) in enumerate(
            [("const char", "{1}"), ("char", "{1}"), ("char", "{0}")]
        )
        for align, size in [(64, 3), (4096, 65536 - 7), (32768, 70000)]
    )
    uses = "int* const relro[] = {(int*)a1_64};\nchar volatile* sink;\n"
    body = "".join(f"sink = (char*)a{n}_{a};" for n in range(3) for a in (64, 4096, 32768))
    source = write("kinds.c", f"{kinds}{uses}int _start(void) {{ {body} return *relro[0]; }}")
    for cc in ("gcc", "clang -fuse-ld=lld"):
        path = tmp_path / "kinds.ok"
        build([source], path, cc=cc)
        assert len(shape_of(path).segments) == 4


@pytest.mark.spec("SDK-2")
def test_note_of_the_source_is_kept(write, tmp_path):
    """What OPENKAL_IMAGE says is in the image, once, and nothing is added from the imports."""
    path = tmp_path / "noted.ok"
    made = build([write("noted.c", NOTED)], path)
    note = read_note(shape_of(path))
    assert (note.required, note.optional, note.stack) == (0b11, 1 << 11, 123456)
    assert made.declared_by == "note"
    assert readelf("-n", path).count("openkal ") == 1


@pytest.mark.spec("SDK-2")
def test_note_is_made_from_the_imports(write, tmp_path):
    """Where the sources make no note the imports do: weak ones optional, the others required."""
    source = NOTED.replace("OPENKAL_IMAGE(", "_Static_assert(1 || ").replace(", 123456)", ', "");')
    source = source.replace(", KAL_IFACE_NET", "")
    path = tmp_path / "unnoted.ok"
    build([write("unnoted.c", source)], path)
    note = read_note(shape_of(path))
    assert (note.required, note.optional, note.stack) == (1 << 1, 1 << 11, 0)
    assert note.version == 0x140000


@pytest.mark.spec("SDK-1")
def test_all_kinds_of_sources_make_one_image(write, tmp_path):
    """C, C++, assembly and objects are compiled and linked together."""
    main = "int in_cpp(void); int in_asm(void); int in_object(void);\n"
    main += "int _start(void) { return in_cpp() + in_asm() + in_object(); }"
    cpp = '#include <openkal/image.h>\nextern "C" int in_cpp() { static int n; return ++n; }'
    asm = ".text\n.globl in_asm\n.type in_asm,%function\nin_asm: ret\n.size in_asm,.-in_asm\n"
    object_source = write("object.c", "int in_object(void) { return 3; }")
    object_path = tmp_path / "object.o"
    subprocess.run(["gcc", "-fPIC", "-c", object_source, "-o", object_path], check=True)
    sources = [write("m.c", main), write("c.cpp", cpp), write("a.S", asm), object_path]
    path = tmp_path / "all.ok"
    build(sources, path, options=["-O2"])
    names = readelf("-s", path)
    assert all(name in names for name in ("in_cpp", "in_asm", "in_object"))


@pytest.mark.spec("SDK-1")
def test_options_reach_the_compiler(write, tmp_path):
    """-D and -I are the compiler's."""
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "seven.h").write_text("#define SEVEN WHICH\n")
    source = write("options.c", '#include "seven.h"\nint _start(void) { return SEVEN; }')
    build([source], tmp_path / "o.ok", options=["-I", str(tmp_path / "inc"), "-DWHICH=7"])


@pytest.mark.spec("SDK-1")
@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        pytest.param("int _start(void) { return }", Refusal, "SDK-1", id="does-not-compile"),
        pytest.param(
            "int f(void) { return 1; }", Refusal, "no source defines main.*NEED-1", id="no-main"
        ),
        pytest.param("", Refusal, "no source defines main.*NEED-1", id="empty"),
        pytest.param(
            'int puts(const char*), f(void);\nint _start(void) { return puts("") + f(); }',
            Refusal,
            "undefined: f puts: .*NEED-1",
            id="imports-names",
        ),
        pytest.param(
            NOTED.replace("KAL_IFACE_NET", "0"), Refusal, r"kal_net_props.*NEED-2", id="undeclared"
        ),
        pytest.param(
            "__thread int t;\nint _start(void) { return t++; }", FormatError, "IMG-18", id="tls"
        ),
        pytest.param(
            NOTED.replace("123456", "1ull << 40"), FormatError, "NOTE-3", id="too-much-stack"
        ),
    ],
)
def test_no_output_of_what_is_refused(write, tmp_path, text, error, says):
    """Compiler, linker and gate may each refuse: there is no output then, nor a part of it."""
    place = tmp_path / "out"
    place.mkdir()
    with pytest.raises(error, match=says):
        build([write("bad.c", text)], place / "bad.ok")
    assert list(place.iterdir()) == []


@pytest.mark.spec("SDK-1")
def test_old_output_stays_until_there_is_a_new_one(write, tmp_path):
    """A refused build leaves what was there before; a good one replaces it."""
    path = tmp_path / "x.ok"
    path.write_bytes(b"old")
    with pytest.raises(Refusal):
        build([write("bad.c", "int _start(void) { return }")], path)
    assert path.read_bytes() == b"old"
    build([write("good.c", BARE)], path)
    assert path.read_bytes().startswith(b"\x7fELF")


@pytest.mark.spec("SDK-1")
def test_compiler_says_why(write, tmp_path, capfd):
    """The compiler's own message is on standard error as it is."""
    with pytest.raises(Refusal):
        build([write("bad.c", "int _start(void) { return no_such_name; }")], tmp_path / "x.ok")
    out, err = capfd.readouterr()
    assert "no_such_name" in err
    assert out == ""


@pytest.mark.spec("SDK-1")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"sources": []}, "no sources"),
        ({"sources": ["x.f90"]}, r"x\.f90"),
        ({"options": ["-lm"]}, "-lm"),
        ({"options": ["-static"]}, "-static"),
        ({"options": ["-c"]}, "-c"),
        ({"target": "riscv64"}, "riscv64"),
        ({"cc": "no-such-compiler"}, "no-such-compiler"),
        ({"cc": "gcc '-O"}, "no such compiler: gcc '-O"),
        ({"cc": "/"}, "no such compiler: /"),
        ({"cc": "true", "target": "x86_64"}, "true wrote nothing"),
        ({"options": ["-fsyntax-only"]}, "wrote nothing"),
        ({"sources": ["no-such-source.c"]}, "no-such-source.c: No such file"),
        ({"output": "/dev/null"}, "/dev/null: not a regular file"),
        ({"output": "/"}, "/: not a regular file"),
        ({"output": ""}, "image cannot be written"),
        ({"cc": "clang", "target": "aarch64"}, "for x86_64, not for aarch64"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused(write, tmp_path, arguments, says):
    """What cannot become an image is refused with one line that names it."""
    good = {"sources": [write("good.c", BARE)], "output": tmp_path / "x.ok"}
    with pytest.raises(OkError, match=says) as caught:
        build(**good | arguments)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "x.ok").exists()


@pytest.mark.spec("SDK-1")
def test_output_that_cannot_be_written_is_unreadable(write, tmp_path):
    """A directory that is not there is one line, and nothing is left."""
    with pytest.raises(Unreadable, match="nowhere"):
        build([write("good.c", BARE)], tmp_path / "nowhere" / "x.ok")


@pytest.mark.spec("SDK-1")
def test_output_through_a_link_leaves_the_link(write, tmp_path):
    """What the link names is replaced, whether it is there or not."""
    link = tmp_path / "link.ok"
    link.symlink_to("real.ok")
    for _ in range(2):
        build([write("good.c", BARE)], link)
        assert link.is_symlink()
        assert (tmp_path / "real.ok").read_bytes().startswith(b"\x7fELF")


@pytest.mark.spec("SDK-1")
def test_output_that_is_no_file_stays_what_it_is(write, tmp_path):
    """A pipe or a device is not replaced by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(Unreadable, match="not a regular file"):
        build([write("good.c", BARE)], pipe)
    assert pipe.is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.c", "pipe"]


@pytest.mark.spec("SDK-1")
def test_no_room_to_build_is_one_line(write, tmp_path, monkeypatch):
    """Where no temporary file can be made, that is what is said."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(Unreadable, match="temporary directory: No such file") as caught:
        build([write("good.c", BARE)], tmp_path / "x.ok")
    assert "\n" not in str(caught.value)
