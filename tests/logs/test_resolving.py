"""Questions of a log become files and addresses: which file, which address of it, and why none."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from okld.base.errors import OkError
from okld.syms.answer import Found, Miss
from okld.syms.logs import resolver as resolver_module
from okld.syms.logs.context import MAX_MAPPINGS, Maps
from okld.syms.logs.query import ANY, FILE, IMAGE, PERF, PROCESS, SYMBOL, Query
from okld.syms.logs.resolver import Resolver
from okld.syms.modules import Modules, parse_module

BUILD_ID = "00112233445566778899aabbccddeeff00112233"
OTHER = "ff112233445566778899aabbccddeeff00112233"
RELEASE = "6.1.0-57-test"


@pytest.fixture
def ask(files):
    """Answer one query on the system of *files*; `ask.said` has the messages."""

    def resolve(query, given=()):
        with Resolver(Modules(given, sysroot=str(files.root)), say=resolve.said.append) as made:
            return made.resolve(query)

    resolve.said = []
    return resolve


def name(answer):
    assert not isinstance(answer, Miss), answer
    return [(found.name, found.offset) for found in answer]


@pytest.mark.spec("LOG-17")
def test_a_path_under_the_root(ask, files):
    """The path that the log has is looked for under the root that was given."""
    assert name(ask(Query("/opt/app/prog", files.symbols["in_helper"]))) == [("helper", 0)]


@pytest.mark.spec("LOG-17")
@pytest.mark.parametrize("key", ["/else/where/prog", "prog", BUILD_ID, BUILD_ID.upper()])
def test_a_module_that_the_user_names(ask, files, key):
    """A module is named by its path, the last part of that, or its build id."""
    query = Query("/else/where/prog", files.symbols["in_helper"], build_id=BUILD_ID)
    assert name(ask(query, [(key, str(files.paths["prog"]))])) == [("helper", 0)]


@pytest.mark.spec("LOG-17")
def test_what_the_user_names_is_first(ask, files):
    """The file that the user names is taken, and not the one at the log's path."""
    query = Query("/opt/app/fixed", files.symbols["in_helper"])
    assert name(ask(query, [("fixed", str(files.paths["prog"]))])) == [("helper", 0)]


@pytest.mark.spec("LOG-17")
def test_a_bare_name_is_no_path(ask, files, monkeypatch):
    """A name without a directory is not looked for in the current one."""
    monkeypatch.chdir(files.paths["prog"].parent)
    assert isinstance(ask(Query("prog", files.symbols["in_helper"])), Miss)
    assert [note.split(":")[0] for note in ask.said] == ["prog"]


@pytest.mark.spec("LOG-17")
def test_another_build(ask, files):
    """Where the log's build id is not the file's there is no answer, and one note says so."""
    query = Query("/opt/app/prog", files.symbols["in_helper"], build_id=OTHER)
    assert ask(query).reason == "the file here is of another build"
    assert ask(query, [("prog", str(files.paths["prog"]))]).name is None
    assert (
        ask.said == [f"/opt/app/prog: the file here is of another build: {files.paths['prog']}"] * 2
    )


@pytest.mark.spec("LOG-17")
def test_a_file_without_a_build_id(ask, files):
    """Nothing says that it is the log's, where the log has one: only the user can."""
    query = Query("/opt/app/libbased.so", files.symbols["based.in_helper"], build_id=OTHER)
    assert ask(query).name is None
    assert name(ask(query, [("libbased.so", str(files.paths["based"]))])) == [("helper", 0)]


CAPITALS = OTHER.upper()
IDENTIFIED = [
    "    #0 0x1000  (/opt/app/prog+0x<<in_helper>>) (BuildId: %s)\n",
    "    #00 pc <<in_helper|016x>>  /opt/app/prog (BuildId: %s)\n",
]


@pytest.mark.spec("LOG-17", "LOG-6", "LOG-13")
@pytest.mark.parametrize("line", IDENTIFIED)
def test_a_build_id_in_capitals(files, line):
    """Is the same id: a file of another is not taken for the log's."""
    for build_id, named in ((BUILD_ID, True), (BUILD_ID.upper(), True), (CAPITALS, False)):
        log = files.fill((line % build_id).encode())
        assert (b"helper" in files.rewrite(log)) is named
        assert f"(BuildId: {build_id})".encode() in files.rewrite(log)


@pytest.mark.spec("LOG-17")
@pytest.mark.parametrize("line", IDENTIFIED)
@pytest.mark.parametrize("build_id", [BUILD_ID[:-1], "0", BUILD_ID + "0"])
def test_a_build_id_of_an_odd_number_of_digits(files, line, build_id):
    """Is none that a file can have: nothing is said of the address, and why is."""
    log, said = files.fill((line % build_id).encode()), []
    assert files.rewrite(log, said=said) == log
    assert said == [
        "/opt/app/prog: what the log states is no build id: it has an odd number of digits"
    ]


@pytest.mark.spec("LOG-17")
@pytest.mark.parametrize("digits", [8, 16, 32, 40, 64, 128])
def test_build_ids_of_every_length(files, tmp_path, digits):
    """A linker makes them of any length; kernels print those of less than 20 bytes with zeros."""
    build_id = "0123456789abcdef" * 8
    path = tmp_path / "opt/prog"
    path.parent.mkdir()
    note = f"-Wl,--build-id=0x{build_id[:digits]}"
    subprocess.run(["gcc", "-nostdlib", "-static", note, "-xc", "-", "-o", path],
                   input=b"int _start(void) { return 1; }", check=True)  # fmt: skip
    with Resolver(Modules(sysroot=str(tmp_path))) as made:
        query = Query("/opt/prog", space=SYMBOL, symbol="_start", build_id=build_id[:digits])
        assert name(made.resolve(query)) == [("_start", 0)]
        query.build_id = query.build_id[:-2]
        assert made.resolve(query).name is None
    with Resolver(Modules([("m", str(path))])) as made:
        stated = build_id[:digits].ljust(40, "0")
        query = Query("m", space=SYMBOL, symbol="_start", build_id=stated, kernel=True)
        assert name(made.resolve(query)) == [("_start", 0)]
        query.kernel = False
        assert isinstance(made.resolve(query), Miss) is (digits < 40)


@pytest.mark.spec("LOG-14")
def test_an_address_in_capitals(files):
    """Is one like any other: loggers write them so."""
    code = range(files.symbols["middle"], files.symbols["die"])
    at = next(address for address in code if f"{address:x}" != f"{address:X}")
    for form in (
        "/opt/app/prog+0x%X\n",
        "/opt/app/prog(+0x%X)\n",
        "#1  0xAB n/a (/opt/app/prog + 0x%X)\n",
    ):
        lower, upper = (form.replace("%X", each) % at for each in ("%x", "%X"))
        named = files.rewrite(lower.encode())
        assert named != lower.encode()
        assert files.rewrite(upper.encode()).lower() == named.lower()


@pytest.mark.spec("LOG-17")
def test_a_debug_file_by_build_id(files, tmp_path):
    """A module whose file is not here is found in the tree of build ids."""
    tree = tmp_path / "usr/lib/debug/.build-id/00"
    tree.mkdir(parents=True)
    debug = tree / f"{BUILD_ID[2:]}.debug"
    subprocess.run(["objcopy", "--only-keep-debug", files.paths["prog"], debug], check=True)
    with Resolver(Modules(sysroot=str(tmp_path))) as made:
        query = Query("/opt/app/prog", files.symbols["in_helper"], build_id=BUILD_ID)
        assert name(made.resolve(query)) == [("helper", 0)]


@pytest.mark.spec("LOG-17")
@pytest.mark.parametrize("kind", ["fifo", "directory", "device", "nul", "absent", "text", "empty"])
def test_what_is_no_program_is_not_opened(ask, files, kind):
    """A FIFO, a directory, a device: none is read, nothing is waited for, the answer is a miss."""
    path = files.root / "odd" / kind
    path.parent.mkdir(exist_ok=True)
    module = f"/odd/{kind}"
    if kind == "fifo" and not path.exists():
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir(exist_ok=True)
    elif kind == "device":
        module = "/../../../../../../../../../../dev/zero"
    elif kind == "nul":
        module = "/odd/\0"
    elif kind in ("text", "empty"):
        path.write_text("no program" * (kind == "text"))
    assert isinstance(ask(Query(module, 0x1000)), Miss)
    assert len(ask.said) == 1


@pytest.mark.spec("LOG-17")
def test_dots_in_a_path_are_followed(ask, files):
    """`..` leads where it leads: the user could read that file, too."""
    query = Query("/opt/none/../app/./prog", files.symbols["in_helper"])
    (files.root / "opt/none").mkdir(exist_ok=True)
    assert name(ask(query)) == [("helper", 0)]


@pytest.mark.spec("LOG-17")
def test_control_bytes_in_a_note(ask):
    """What a log calls a module comes to the terminal without its control bytes."""
    ask(Query("/a\x1b[2J/b", 1))
    assert ask.said[0].startswith("/a\\x1b[2J/b: ")


@pytest.mark.spec("LOG-17")
def test_one_note_a_module(files):
    """However often it is asked for, one note is written of a module."""
    said = []
    with Resolver(Modules(), say=said.append) as made:
        for address in range(10):
            made.resolve(Query("/nowhere/x", address))
            made.resolve(Query("/nowhere/y", address))
    assert [note.split(":")[0] for note in said] == ["/nowhere/x", "/nowhere/y"]


@pytest.mark.spec("LOG-17")
def test_files_are_closed(files, tmp_path, monkeypatch):
    """At most MAX_OPEN files are open; the one that was not used longest is closed first."""
    monkeypatch.setattr(resolver_module, "MAX_OPEN", 3)
    for i in range(8):
        shutil.copy(files.paths["prog"], tmp_path / f"p{i}")

    def opened():
        links = (f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd"))
        paths = {os.readlink(link) for link in links if os.path.islink(link)}
        return sorted(path[-2:] for path in paths if path.startswith(str(tmp_path)))

    with Resolver(Modules()) as made:
        for address, i in enumerate((0, 1, 2, 0, 3, 4)):
            made.resolve(Query(f"{tmp_path}/p{i}", address))
        assert opened() == ["p0", "p3", "p4"]
    assert opened() == []


@pytest.mark.spec("LOG-17")
@pytest.mark.parametrize("module", ["my_mod", "my-mod"])
def test_a_kernel_module(ask, files, module):
    """Of the release that the log told, with `-` and `_` alike."""
    query = Query(module, space=SYMBOL, symbol="helper", kernel=True, release=RELEASE)
    assert name(ask(query)) == [("helper", 0)]
    query.release = "6.1.0-58-test"
    assert ask(query).name is None
    assert name(ask(query, [("my_mod", str(files.paths["my_mod"]))])) == [("helper", 0)]


@pytest.mark.spec("LOG-17")
def test_a_kernel_whose_release_is_not_told(ask, files):
    """No kernel is guessed: not the one that runs here."""
    query = Query("vmlinux", space=SYMBOL, symbol="helper", kernel=True)
    assert "release" in ask(query).reason
    assert name(ask(query, [("vmlinux", str(files.paths["vmlinux"]))])) == [("helper", 0)]


@pytest.mark.spec("LOG-4")
def test_every_space(ask, files):
    """One place, as each space states it."""
    at = files.symbols["based.in_leaf"]
    want = [("middle", at - files.symbols["based.middle"])]
    headers = subprocess.check_output(["readelf", "-lW", files.paths["based"]], text=True)
    loads = [line.split() for line in headers.splitlines() if line.split()[:1] == ["LOAD"]]
    offset, vaddr = next((int(s[1], 16), int(s[2], 16)) for s in loads if "E" in s[6:8])
    path = "/opt/app/libbased.so"
    spaces = ((FILE, at - vaddr + offset), (IMAGE, at - 0x400000), (ANY, at), (ANY, at - 0x400000))
    for space, address in (("link", at), *spaces):
        assert name(ask(Query(path, address, space=space))) == want
    symbol = Query(path, space=SYMBOL, symbol="middle", offset=want[0][1])
    assert name(ask(symbol)) == want
    assert ask(Query(path, at, space=PROCESS)).name is None


@pytest.mark.spec("LOG-11")
def test_what_perf_prints_is_not_guessed(ask, files):
    """Where an address can be an offset and a run-time address that differ, nothing is said."""
    at = files.symbols["in_leaf"]
    path = "/opt/app/prog"
    assert name(ask(Query(path, at, space=PERF)))[0][0] == "middle"
    assert name(ask(Query(path, 0x7F0000001000, space=PERF, mapped=at)))[0][0] == "middle"
    assert ask(Query(path, at, space=PERF, mapped=at + 4)).name is None
    assert ask(Query(path, 0x7F0000001000, space=PERF)).name is None


@pytest.mark.spec("LOG-3")
def test_a_byte_before(ask, files):
    """A return address is that of the call; its offset stays the address's own."""
    at = files.symbols["next"]
    exact, back = (Query("/opt/app/prog", at, is_return=is_return) for is_return in (False, True))
    assert name(ask(exact)) == [("next", 0)]
    (found,) = ask(back)
    assert isinstance(found, Found)
    assert (found.name, found.offset + 1) == ("last_call", at - files.symbols["last_call"])


@pytest.mark.spec("LOG-4")
def test_maps():
    """A new mapping takes the place of what it covers, of its own process alone."""
    maps = Maps()
    maps.add(1, 0x1000, 0x5000, 0, "/a")
    maps.add(1, 0x2000, 0x3000, 0x100, "/b")
    maps.add(2, 0x1000, 0x2000, 0, "/c")
    assert maps.find(1, 0x2010) == ("/b", 0x110)
    assert maps.find(1, 0x1FFF) is None
    assert maps.find(2, 0x1FFF) == ("/c", 0xFFF)
    assert maps.find(2, 0x2000) is None
    assert maps.find(3, 0x1000) is None
    maps.forget(2)
    assert maps.find(2, 0x1000) is None


@pytest.mark.spec("LOG-4")
def test_a_second_listing_takes_the_place_of_the_first(files):
    """Addresses of a process that died before are not taken for the new one's."""
    first = b"10000000-10002000 r-xp 00000000 fe:00 1 /opt/app/prog\n"
    second = b"00400000-00401000 r-xp 00000000 fe:00 1 /nowhere/else\n"
    frame = files.fill(b"   1:         0x<<in_leaf+0x10000000>> - <unknown>\n")
    assert b"middle" in files.rewrite(first + frame)
    assert files.rewrite(first + second + frame) == first + second + frame


@pytest.mark.spec("LOG-18")
def test_too_many_maps_are_forgotten():
    """There are at most MAX_MAPPINGS, whatever their files are called."""
    maps = Maps()
    for i in range(MAX_MAPPINGS + 1):
        maps.add(i, 0x1000, 0x2000, 0, "/a")
    assert maps.find(MAX_MAPPINGS, 0x1000) == ("/a", 0)
    assert maps.find(0, 0x1000) is None


@pytest.mark.spec("LOG-17")
def test_name_and_file():
    """NAME=FILE is cut at the first "="; a name may be empty: that of the program itself."""
    assert parse_module("libx.so=/a=b") == ("libx.so", "/a=b")
    assert parse_module("=/a") == ("", "/a")
    for word in ("libx.so", "libx.so="):
        with pytest.raises(OkError, match="no NAME=FILE"):
            parse_module(word)
