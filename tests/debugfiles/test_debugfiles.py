"""Separate debug files: which are found, and which are not taken."""

from __future__ import annotations

import os
import shutil
import socket
import struct
from pathlib import Path

import pytest
from made import SOURCE

from okld.base.errors import FormatError, Refusal, Unreadable
from okld.syms.debugfiles import Trail, find, find_alt, find_dwo, find_dwp
from okld.syms.options import Options


def answers(elf, options: Options, trail: Trail | None = None) -> list[tuple[str, str]]:
    """Return all files that a search gives, as (path, how), and close them."""
    found = list(find(elf, options, trail))
    for file in found:
        file.close()
    return [(file.elf.path, file.how) for file in found]


def linked(stripped, run, name: str = "program.debug") -> None:
    """Give the program a debug link to its debug file, by another name if one is given."""
    if name != stripped.debug.name:
        shutil.move(stripped.debug, stripped.debug.with_name(name))
        stripped.debug = stripped.debug.with_name(name)
    run("objcopy", f"--add-gnu-debuglink={stripped.debug}", stripped.program)


def without_build_id(stripped, run) -> None:
    for path in (stripped.program, stripped.debug):
        run("objcopy", "-R", ".note.gnu.build-id", path)


@pytest.mark.spec("DBG-6")
def test_the_build_id_tree_of_each_debug_directory(stripped, opened, tmp_path):
    """All that are there are given, in the directories' order; what is not there is told."""
    elf = opened(stripped.program)
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    paths = [str(stripped.in_tree(tree)) for tree in (third, first)]
    options = Options(debug_dirs=tuple(map(str, (first, second, third))))
    trail = Trail()
    assert answers(elf, options, trail) == [(path, "build id") for path in paths[::-1]]
    name = f"{stripped.build_id[:2]}/{stripped.build_id[2:]}.debug"
    assert f"{second}/.build-id/{name}" in trail.absent
    assert not {*paths} & {*trail.absent}
    assert trail.notes == []


@pytest.mark.spec("DBG-6")
def test_a_sysroot_is_before_every_directory(stripped, opened, tmp_path):
    """The debug files are those of the system in the sysroot."""
    path = stripped.in_tree(tmp_path / "root/usr/lib/debug")
    options = Options(sysroot=str(tmp_path / "root"))
    assert answers(opened(stripped.program), options) == [(str(path), "build id")]


@pytest.mark.spec("DBG-6")
def test_another_build_under_that_name_is_not_taken(stripped, opened, tmp_path, run):
    """The build id of what was found is compared, and a note says that it differs."""
    path = stripped.in_tree(tmp_path / "tree")
    (tmp_path / "b.c").write_text("int main(void) { return 5; }")
    run("gcc", "-g", "-Wl,--build-id=sha1", "b.c", "-o", path)
    trail = Trail()
    assert (
        answers(opened(stripped.program), Options(debug_dirs=(str(tmp_path / "tree"),)), trail)
        == []
    )
    assert trail.notes == [f"{path}: build id is not {stripped.build_id} [DBG-6]"]


@pytest.mark.spec("DBG-6")
@pytest.mark.parametrize("name", ["debug/usr/lib/m", "debug/lib/m.debug", "debug/lib/m"])
def test_a_debug_file_by_the_path_of_the_file(name, stripped, opened, tmp_path, run):
    """As kernel modules have it: no link, and no place in the tree; the build id says it."""
    root = tmp_path / "root"
    for path in (root / "usr/lib/m", root / name):
        path.parent.mkdir(parents=True)
    shutil.copy(stripped.program, root / "usr/lib/m")
    shutil.copy(stripped.debug, root / name)
    options = Options(debug_dirs=("/debug",), sysroot=str(root))
    assert answers(opened(root / "usr/lib/m"), options) == [(str(root / name), "path")]
    run("objcopy", "-R", ".note.gnu.build-id", root / "usr/lib/m")
    assert answers(opened(root / "usr/lib/m"), options) == []


@pytest.mark.spec("DBG-8")
@pytest.mark.parametrize("place", ["bin", "bin/.debug", "debug{bin}", "root/usr/lib/debug/bin"])
def test_a_debug_link_is_looked_for_in_three_places(place, stripped, opened, tmp_path, run):
    """Beside the file, in `.debug` there, and in the debug directories below the file's own."""
    without_build_id(stripped, run)
    linked(stripped, run)
    without_tree = Options(debug_dirs=(str(tmp_path / "debug"),))
    if place.startswith("root"):  # the file is in the sysroot: its directory there counts
        (tmp_path / "root/bin").mkdir(parents=True)
        shutil.move(stripped.program, tmp_path / "root/bin/program")
        stripped.program = tmp_path / "root/bin/program"
        without_tree = Options(sysroot=str(tmp_path / "root"))
    directory = Path(f"{tmp_path}/" + place.format(bin=f"{tmp_path}/bin"))
    directory.mkdir(parents=True, exist_ok=True)
    shutil.copy(stripped.debug, directory)
    expected = [(str(directory / "program.debug"), "debug link")]
    assert answers(opened(stripped.program), without_tree) == expected


@pytest.mark.spec("DBG-8")
def test_the_link_of_a_file_behind_a_symbolic_link(stripped, opened, tmp_path, run):
    """The debug file lies beside the file itself."""
    linked(stripped, run)
    shutil.copy(stripped.debug, tmp_path / "bin")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/name").symlink_to(stripped.program)
    expected = [(str(tmp_path / "bin/program.debug"), "debug link")]
    options = Options(debug_dirs=())
    assert answers(opened(tmp_path / "elsewhere/name"), options) == expected


@pytest.mark.spec("DBG-8")
def test_a_file_of_another_sum_is_not_taken(stripped, opened, tmp_path, run):
    """One byte more, and it is another file."""
    linked(stripped, run)
    copy = Path(shutil.copy(stripped.debug, tmp_path / "bin"))
    with copy.open("ab") as file:
        file.write(b"\0")
    trail = Trail()
    assert answers(opened(stripped.program), Options(debug_dirs=()), trail) == []
    assert trail.notes == [f"{copy}: CRC-32 is not that of the debug link [DBG-8]"]


@pytest.mark.spec("DBG-8")
def test_a_debug_file_of_the_same_name_in_another_place(stripped, opened, tmp_path, run):
    """Where both have one name, the file itself is passed by without a word."""
    linked(stripped, run, name="program")
    (tmp_path / "bin/.debug").mkdir()
    copy = shutil.copy(stripped.debug, tmp_path / "bin/.debug")
    trail = Trail()
    options = Options(debug_dirs=())
    assert answers(opened(stripped.program), options, trail) == [(str(copy), "debug link")]
    assert trail.notes == []


@pytest.mark.spec("DBG-8")
@pytest.mark.parametrize("length", range(1, 6))
def test_the_sum_is_at_a_multiple_of_four(length, stripped, opened, tmp_path, run):
    """Wherever in the file the section begins, and whatever the name's length."""
    name = "x" * length
    linked(stripped, run, name=name)
    shutil.copy(stripped.debug, tmp_path / "bin")
    data = bytearray(stripped.program.read_bytes())
    elf = opened(stripped.program)
    index = elf.index(".gnu_debuglink")
    section = elf.sections[index]
    moved = len(data) | 1
    data += bytes(moved - len(data)) + data[section[4] : section[4] + section[5]]
    struct.pack_into("<Q", data, elf.header.shoff + 64 * index + 24, moved)
    stripped.program.write_bytes(data)
    expected = [(str(tmp_path / "bin" / name), "debug link")]
    assert answers(opened(stripped.program), Options(debug_dirs=())) == expected


@pytest.mark.spec("DBG-8")
@pytest.mark.parametrize(
    "section",
    [
        b"",
        b"program.debug",
        b"\0\0\0\0\0\0\0\0",
        b"../made/program.debug\0\0\0" + b"CRC!",
        b"..\0\0" + b"CRC!",
        b"program.debug\0\0\0" + b"CRC",
    ],
)
def test_a_link_that_is_none(section, stripped, opened, tmp_path, run):
    """No name, no sum, or a name that leads elsewhere."""
    import zlib

    crc = struct.pack("<I", zlib.crc32(stripped.debug.read_bytes()))
    (tmp_path / "link").write_bytes(section.replace(b"CRC!", crc))
    run("objcopy", "--add-section=.gnu_debuglink=link", stripped.program)
    shutil.copy(stripped.debug, tmp_path / "bin")
    trail = Trail()
    assert answers(opened(stripped.program), Options(debug_dirs=()), trail) == []
    assert (trail.notes, trail.absent) == ([], [])


@pytest.mark.spec("DBG-8")
@pytest.mark.parametrize("kind", ["fifo", "socket", "directory", "text", "empty"])
def test_only_regular_files_are_opened(kind, stripped, opened, tmp_path, run, monkeypatch):
    """A FIFO under the name does not stop the search, nor does anything else that is no file."""
    linked(stripped, run)
    bad = tmp_path / "bin/program.debug"
    if kind == "fifo":
        os.mkfifo(bad)
    elif kind == "socket":
        monkeypatch.chdir(bad.parent)  # a socket's path has a hundred bytes at most
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(bad.name)
    elif kind == "directory":
        bad.mkdir()
    else:
        bad.write_text("text" if kind == "text" else "")
    (tmp_path / "bin/.debug").mkdir()
    good = shutil.copy(stripped.debug, tmp_path / "bin/.debug")
    trail = Trail()
    options = Options(debug_dirs=())
    assert answers(opened(stripped.program), options, trail) == [(str(good), "debug link")]
    assert len(trail.notes) == 1
    assert str(bad) in trail.notes[0]


@pytest.mark.spec("DBG-9")
def test_no_other_file_is_read_when_told_so(stripped, opened, tmp_path, run):
    """Nothing is even looked for."""
    linked(stripped, run)
    shutil.copy(stripped.debug, tmp_path / "bin")
    stripped.in_tree(tmp_path / "tree")
    elf = opened(stripped.program)
    trail = Trail()
    options = Options(debug_dirs=(str(tmp_path / "tree"),), external=False)
    assert answers(elf, options, trail) == []
    assert find_alt(elf, options, trail) is None
    assert list(find_dwo(elf, "program", str(tmp_path / "bin"), options, trail)) == []
    assert list(find_dwp(elf, options, trail)) == []
    assert (trail.notes, trail.absent) == ([], [])
    assert len(answers(elf, Options(debug_dirs=options.debug_dirs))) == 2


@pytest.mark.spec("DBG-11")
def test_a_debug_file_that_is_named_is_the_only_one(stripped, opened, tmp_path):
    """It is not searched for, and taken also where no other file may be read."""
    stripped.in_tree(tmp_path / "tree")
    for external in (True, False):
        options = Options(
            debug_dirs=(str(tmp_path / "tree"),),
            debug_file=str(stripped.debug),
            external=external,
        )
        assert answers(opened(stripped.program), options) == [(str(stripped.debug), "given")]


@pytest.mark.spec("DBG-11")
def test_a_named_debug_file_of_another_build_is_refused(stripped, opened, tmp_path, run):
    """Its answers would be wrong; without build ids the user's word is all there is."""
    (tmp_path / "b.c").write_text("int main(void) { return 5; }")
    run("gcc", "-g", "-Wl,--build-id=sha1", "b.c", "-o", "other")
    options = Options(debug_file=str(tmp_path / "other"))
    with pytest.raises(Refusal, match="another build") as refused:
        answers(opened(stripped.program), options)
    assert refused.value.rule == "DBG-11"
    without_build_id(stripped, run)
    assert answers(opened(stripped.program), options) == [(str(tmp_path / "other"), "given")]


@pytest.mark.spec("DBG-11")
def test_a_named_debug_file_that_is_none_is_an_error(stripped, opened, tmp_path):
    """Who names a file wants to hear of it."""
    (tmp_path / "text").write_text("text")
    for name, error in (("missing", Unreadable), ("text", FormatError)):
        with pytest.raises(error):
            answers(opened(stripped.program), Options(debug_file=str(tmp_path / name)))


@pytest.fixture
def shared(tmp_path, run) -> Path:
    """Return a program whose debug information dwz moved in part to `common`."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.c").write_text(SOURCE.replace("int main", f"int {name}_;int main"))
        run("gcc", "-g", "-O1", "-Wl,--build-id=sha1", f"{name}.c", "-o", name)
    run("dwz", "-m", "common", "-M", "/nowhere/common", "-h", "one", "two")
    return tmp_path / "one"


def alternate(elf, options: Options, trail: Trail | None = None) -> str | None:
    found = find_alt(elf, options, trail)
    if found is None:
        return None
    found.close()
    assert found.how == "alternate link"
    return found.elf.path


@pytest.mark.spec("DBG-10")
@pytest.mark.parametrize("place", ["root/nowhere/common", "debug/.dwz/common", "build id"])
def test_the_alternate_file_is_found(place, shared, opened, tmp_path, run):
    """Where the link says, in the sysroot; in the debug directories' `.dwz`; by build id."""
    elf = opened(shared)
    options = Options(debug_dirs=(str(tmp_path / "debug"),))
    trail = Trail()
    assert alternate(elf, options, trail) is None
    assert "/nowhere/common" in trail.absent
    if place.startswith("root"):
        options = Options(sysroot=str(tmp_path / "root"))
    elif place == "build id":
        text = run("readelf", "-n", "common").decode().partition("Build ID: ")[2].split()[0]
        place = f"debug/.build-id/{text[:2]}/{text[2:]}.debug"
    (tmp_path / place).parent.mkdir(parents=True)
    shutil.copy(tmp_path / "common", tmp_path / place)
    assert alternate(elf, options) == str(tmp_path / place)


@pytest.mark.spec("DBG-10")
def test_an_alternate_file_of_this_system_is_not_one_of_the_sysroot(shared, opened, tmp_path, run):
    """A link's absolute path is one of the system looked at, and is tried nowhere else."""
    for name in ("one", "two"):
        run("gcc", "-g", "-O1", "-Wl,--build-id=sha1", f"{name}.c", "-o", name)
    run("dwz", "-m", "common", "-M", str(tmp_path / "common"), "-h", "one", "two")
    elf = opened(shared)
    assert alternate(elf, Options(debug_dirs=())) == str(tmp_path / "common")
    trail = Trail()
    options = Options(debug_dirs=(), sysroot=str(tmp_path / "root"))
    assert alternate(elf, options, trail) is None
    assert trail.absent == [f"{tmp_path}/root{tmp_path}/common"]


@pytest.mark.spec("DBG-10")
def test_a_supplementary_file_of_dwarf_5(shared, opened, tmp_path, run):
    """Its checksum stands in both files, and it needs no build id."""
    for name in ("one", "two"):
        run("gcc", "-g", "-O1", "-Wl,--build-id=sha1", f"{name}.c", "-o", name)
    run("dwz", "--dwarf-5", "-m", "common", "-M", "/nowhere/common", "-h", "one", "two")
    assert b".gnu_debugaltlink" not in run("readelf", "-SW", "one")
    (tmp_path / "root/nowhere").mkdir(parents=True)
    place = shutil.copy(tmp_path / "common", tmp_path / "root/nowhere")
    run("objcopy", "-R", ".note.gnu.build-id", place)
    options = Options(sysroot=str(tmp_path / "root"))
    assert alternate(opened(shared), options) == str(place)
    shutil.copy(tmp_path / "two", place)
    assert alternate(opened(shared), options) is None


@pytest.mark.spec("DBG-10")
def test_an_alternate_file_beside_the_file(shared, opened, tmp_path, run):
    """A path that is relative is so to the file's directory."""
    for name in ("one", "two"):
        run("gcc", "-g", "-O1", "-Wl,--build-id=sha1", f"{name}.c", "-o", name)
    run("dwz", "-m", "common", "-r", "-h", "one", "two")
    assert alternate(opened(shared), Options(debug_dirs=())) == str(tmp_path / "common")


@pytest.mark.spec("DBG-10")
def test_another_alternate_file_is_not_taken(shared, opened, tmp_path):
    """The link has the build id of the file that is meant."""
    (tmp_path / "debug/.dwz").mkdir(parents=True)
    wrong = shutil.copy(tmp_path / "two", tmp_path / "debug/.dwz/common")
    trail = Trail()
    options = Options(debug_dirs=(str(tmp_path / "debug"),))
    assert alternate(opened(shared), options, trail) is None
    assert [note for note in trail.notes if str(wrong) in note and "build id is not" in note]


@pytest.mark.spec("DBG-10")
def test_split_units_where_they_were_made_and_beside_the_program(tmp_path, run, opened):
    """Both are given: which one is the unit's, its id says."""
    (tmp_path / "made/sub").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "made/a.c").write_text(SOURCE)
    made = tmp_path / "made"
    run("gcc", "-g", "-gsplit-dwarf", "-c", made / "a.c", "-o", made / "sub/a.o")
    run("gcc", made / "sub/a.o", "-o", "bin/program")
    elf = opened(tmp_path / "bin/program")
    for place in ("bin/a.dwo", "bin/sub/a.dwo"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        shutil.copy(made / "sub/a.dwo", tmp_path / place)
    trail = Trail()
    found = list(find_dwo(elf, "sub/a.dwo", str(made), Options(), trail))
    for file in found:
        file.close()
    expected = [made / "sub/a.dwo", tmp_path / "bin/sub/a.dwo", tmp_path / "bin/a.dwo"]
    assert [(file.elf.path, file.how) for file in found] == [(str(p), "split") for p in expected]
    found = list(find_dwo(elf, str(made / "sub/a.dwo"), "/nowhere", Options(), trail))
    for file in found:
        file.close()
    assert [file.elf.path for file in found] == [
        str(made / "sub/a.dwo"),
        str(tmp_path / "bin/a.dwo"),
    ]
    assert list(find_dwo(elf, "", str(made), Options(), trail)) == []


@pytest.mark.spec("DBG-10")
def test_the_package_beside_the_program(tmp_path, run, opened):
    """PROGRAM.dwp, of the program's own name and of the one behind a symbolic link."""
    (tmp_path / "a.c").write_text(SOURCE)
    run("gcc", "-g", "-gsplit-dwarf", "-c", "a.c", "-o", "a.o")
    run("gcc", "a.o", "-o", "program")
    (tmp_path / "name").symlink_to("program")
    trail = Trail()
    assert list(find_dwp(opened(tmp_path / "name"), Options(), trail)) == []
    assert trail.absent == [str(tmp_path / "name.dwp"), str(tmp_path / "program.dwp")]
    run("llvm-dwp-19", "a.dwo", "-o", "program.dwp")
    (found,) = find_dwp(opened(tmp_path / "name"), Options())
    found.close()
    assert (found.elf.path, found.how) == (str(tmp_path / "program.dwp"), "package")
