"""`okld symbols --index` and `okld cache`."""

from __future__ import annotations

import errno
import io
import json
import os
import pty
import subprocess
import sys
import time
from contextlib import closing, redirect_stderr, redirect_stdout, suppress

import pytest
from programs import build_index, by_file, by_index, every_address, files_of, grow_index, opened

from okld.base import progress
from okld.cli.main import main
from okld.image.open import open_file
from okld.syms.elf_sources import ElfSources
from okld.syms.index.build import build
from okld.syms.index.format import checksum
from okld.syms.options import Options


def sealed(payload):
    """Return a block that has this payload, with a sum that is right."""
    return checksum(bytes(4) + payload) + bytes(4) + payload


def okld(*words):
    """Run a command; return its status, what it wrote and what it said."""
    written, said = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with redirect_stdout(written), redirect_stderr(said):
        status = main([str(word) for word in words])
    return status, written.buffer.getvalue().decode(), said.getvalue()


@pytest.mark.spec("IDX-11")
def test_the_whole_index(program, cache):
    """The command makes an index that has every answer, and says how large it is."""
    status, written, said = okld("symbols", "--index", program)
    packs = [file for file in files_of(cache) if file.parent != cache]
    size = sum(file.stat().st_size for file in packs)
    assert (status, said) == (0, "")
    assert written == f"{program}: an index of {size} bytes\n"
    assert len(packs) == 2
    every = every_address(program)
    assert by_index(program, every) == by_file(program, every)


@pytest.mark.spec("IDX-11")
def test_the_whole_index_as_json(program):
    """With --json the size is a number in an object of schema 1."""
    size = build_index(program)
    status, written, _ = okld("symbols", "--index", "--json", program)
    assert status == 0
    assert json.loads(written) == {"schema": 1, "file": str(program), "index_bytes": size}


@pytest.mark.spec("IDX-3", "IDX-11")
def test_the_options_of_an_index(program):
    """An index is for the options that it was built with."""
    assert okld("symbols", "--index", "--no-external-debug", program)[0] == 0
    assert opened(program) is None
    assert opened(program, Options(external=False)) is not None


@pytest.mark.spec("IDX-11")
def test_what_was_there_is_put_together(program, cache):
    """After the command there is one pack of a kind, whatever had grown before."""
    every = every_address(program)
    for address in every:
        grow_index(program, [address])
    assert okld("symbols", "--index", program)[0] == 0
    assert len(list(cache.glob("*/*.lines.*"))) == 1
    assert len(list(cache.glob("*/*.names.*"))) == 1
    assert by_index(program, every) == by_file(program, every)


@pytest.mark.spec("IDX-11")
def test_no_index(program, monkeypatch):
    """Where there can be none the status is 1, and the reason is said."""
    monkeypatch.setenv("OKLD_CACHE_DIR", "relative")
    status, written, said = okld("symbols", "--index", program)
    assert (status, written) == (1, "")
    assert said == f"okld: {program}: no index: there is no place for a cache [IDX-11]\n"


@pytest.mark.spec("IDX-11")
@pytest.mark.parametrize(
    ("magic", "kind"), [("4d5a9000", "PE"), ("cffaedfe", "Mach-O"), ("cafebabe", "Mach-O")]
)
def test_no_index_of_other_formats(tmp_path, magic, kind):
    """The reason is what the file is, not what it is not."""
    path = tmp_path / "program"
    path.write_bytes(bytes.fromhex(magic) + bytes(100))
    status, written, said = okld("symbols", "--index", path)
    assert (status, written, said.count("\n")) == (1, "", 1)
    assert said.startswith(f"okld: {path}: no index: it is a {kind} file, and an index is of ELF")


@pytest.mark.spec("IDX-11")
def test_a_worker_that_fails(program, monkeypatch):
    """When one of the processes that build it dies, that is said."""

    def fails(*_):
        raise RuntimeError

    monkeypatch.setattr("okld.syms.index.build.add_names", fails)
    status, _, said = okld("symbols", "--index", program)
    assert status == 1
    assert "a process that built a part of it failed" in said


@pytest.mark.spec("IDX-11")
def test_how_far_it_is(program, monkeypatch):
    """On a terminal a bar grows to its end and is taken away; elsewhere nothing is written."""
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    reader, terminal = pty.openpty()
    before = os.dup(2)
    os.dup2(terminal, 2)
    try:
        assert okld("symbols", "--index", program)[0] == 0
    finally:
        os.dup2(before, 2)
        os.close(terminal)
    said = b""
    with suppress(OSError):  # a terminal that nobody has open any more ends so
        while data := os.read(reader, 1 << 16):
            said += data
    os.close(reader)
    frames = said.decode().split("\r")
    assert frames[0] == ""
    assert frames[-1] == "\x1b[K"
    assert frames[-2] == f"okld: building the index [{'#' * 40}]"
    assert len({len(frame) for frame in frames[1:-1]}) == 1
    told, tell = os.pipe()
    os.dup2(tell, 2)
    try:
        assert okld("symbols", "--index", program)[0] == 0
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(tell)
    assert os.read(told, 100) == b""
    os.close(told)


@pytest.mark.spec("IDX-12")
def test_the_cache(program, cache):
    """The commands say where indexes are and which, and forget what is to be forgotten."""
    assert okld("cache", "dir") == (0, f"{cache}\n", "")
    assert okld("cache", "list") == (0, "", "")
    assert okld("cache", "gc") == (0, "0 forgotten\n", "")
    build_index(program)
    size = sum(file.stat().st_size for file in files_of(cache))
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 10))
    assert okld("cache", "list") == (0, f"{day}  {size:>10}  {program}\n", "")
    assert okld("cache", "gc") == (0, "0 forgotten\n", "")
    program.chmod(0o700)
    assert okld("cache", "gc") == (0, "1 forgotten\n", "")
    assert list(cache.iterdir()) == []
    build_index(program)
    assert okld("cache", "clear") == (0, "1 forgotten\n", "")
    assert list(cache.iterdir()) == []


@pytest.mark.spec("IDX-12")
def test_the_cache_as_json(program, cache):
    """With --json each answer is an object of schema 1."""
    build_index(program)
    size = sum(file.stat().st_size for file in files_of(cache))
    (index,) = json.loads(okld("cache", "list", "--json")[1])["indexes"]
    (key,) = (each.name for each in cache.iterdir() if each.is_dir())
    assert (index["file"], index["bytes"], index["key"]) == (str(program), size, key)
    assert json.loads(okld("cache", "dir", "--json")[1]) == {"schema": 1, "dir": str(cache)}
    assert json.loads(okld("cache", "clear", "--json")[1]) == {"schema": 1, "forgotten": 1}


@pytest.mark.spec("IDX-12")
def test_a_head_that_is_none(cache, program):
    """What cannot be read as an index is listed so, and goes."""
    build_index(program)
    (cache / "0123456789abcdef").write_bytes(b"nothing")
    (cache / "0123456789abcdef").chmod(0o600)
    assert "  unusable: the checksum differs\n" in okld("cache", "list")[1]
    assert okld("cache", "gc") == (0, "1 forgotten\n", "")
    assert opened(program) is not None


@pytest.mark.spec("IDX-12")
def test_a_cache_that_cannot_be_used(cache, program, monkeypatch):
    """Without a place, or in a directory that is open to others, the status is 2."""
    build_index(program)
    cache.chmod(0o777)
    status, _, said = okld("cache", "clear")
    assert (status, said) == (2, f"okld: {cache}: the cache's directory is not ours alone\n")
    monkeypatch.setenv("OKLD_CACHE_DIR", "relative")
    status, _, said = okld("cache", "list")
    assert status == 2
    assert "no place for a cache" in said
    assert okld("cache", "nothing")[0] == 2


FAULTS = {
    "empty": (b"", "the checksum differs"),
    "a column of no kind": (sealed(b"\1\0\0\0" + b"\1\0\0\0t" + b"x"), "a column is cut"),
    "no columns": (sealed(b"\0\0\0\0"), "a block is malformed"),
    "nothing in them": (sealed(b"\1\0\0\0" + b"\0\0\0\0B"), "the head is malformed"),
    "no text": (sealed(b"\2\0\0\0" + b"\1\0\0\0B" * 2 + b"\7\7"), "the head is malformed"),
}


@pytest.mark.spec("IDX-12")
@pytest.mark.parametrize("fault", FAULTS)
def test_why_an_index_is_unusable(cache, program, fault):
    """Is said in words, in a line and in JSON, whatever is wrong with it."""
    build_index(program)
    data, why = FAULTS[fault]
    path = cache / "0123456789abcdef"
    path.write_bytes(data)
    path.chmod(0o600)
    assert f"  unusable: {why}\n" in okld("cache", "list")[1]
    rows = json.loads(okld("cache", "list", "--json")[1])["indexes"]
    assert {(row["file"], row["unusable"]) for row in rows} == {(None, why), (str(program), None)}


@pytest.mark.spec("IDX-12")
def test_what_is_no_file_is_unusable(cache, program):
    """So is what the system does not give, without its number or its name."""
    build_index(program)
    (cache / "link").symlink_to("nothing")
    os.mkfifo(cache / "fifo")
    for packs in cache.glob("*/*"):
        packs.unlink()
    next(path for path in cache.iterdir() if path.is_dir()).rmdir()
    listed = okld("cache", "list")[1]
    reasons = sorted(line.rpartition(": ")[2] for line in listed.splitlines())
    assert reasons == [
        "No such file or directory",
        "Too many levels of symbolic links",
        "the file is not ours alone",
    ]


@pytest.mark.spec("IDX-12", "CLI-1")
def test_a_cache_that_cannot_be_written(cache, program, monkeypatch):
    """Nothing is forgotten then, which is one line and status 2."""
    build_index(program)

    def refuse(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("okld.base.private.os.unlink", refuse)
    status, written, said = okld("cache", "clear")
    assert (status, written, said.count("\n")) == (2, "", 1)
    assert "cannot be removed" in said
    assert opened(program) is not None


@pytest.mark.spec("IDX-7", "IDX-11", "IDX-12")
def test_clearing_while_an_index_is_built(program, cache, monkeypatch):
    """What is cleared meanwhile is not what is being built: that is whole in the end."""
    for size in (0, 1 << 22):  # with a pack for each part of the work, and one for all
        monkeypatch.setattr("okld.syms.index.build.FLUSH", size)
        cleared: list[tuple[int, str, str]] = []

        def clear(*_, into=cleared):
            into.append(okld("cache", "clear"))

        with open_file(program) as file, closing(ElfSources(file, Options())) as sources:
            made = build(file, sources, clear, 2)
        assert len(cleared) > 1
        assert {status for status, _, _ in cleared} == {0}
        packs = [file for file in files_of(cache) if file.parent != cache]
        assert made == sum(file.stat().st_size for file in packs) > 0
        every = every_address(program)
        assert by_index(program, every) == by_file(program, every)
        assert okld("cache", "clear") == (0, "1 forgotten\n", "")
        assert list(cache.iterdir()) == []


@pytest.mark.spec("IDX-7", "IDX-12")
def test_clearing_from_another_process(program, cache):
    """Over and over, neither makes the other fail."""
    code = "import sys; from okld.cli.main import main; sys.exit(main())"
    clear = 'while :; do "$@" >&2 || exit 1; done'
    words = [sys.executable, "-c", code, "cache", "clear"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    loop = ["sh", "-c", clear, "sh", *words]
    with subprocess.Popen(loop, env=env, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(20):
            assert okld("symbols", "--index", program)[::2] == (0, "")
        assert process.poll() is None
        process.terminate()
        said = set(process.stderr.read().splitlines())
    assert said <= {"0 forgotten", "1 forgotten"}
