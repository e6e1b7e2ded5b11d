"""The command's environment is that of ``okprof record``, but for two variables."""

import os
import re
import subprocess

import pytest

OURS = (b"OKRUN_PROF", b"OKRUN_PROF_RUN")


@pytest.fixture
def given(okprof, script, tmp_path):
    """Return the environment's words that a command gets, of words, which need not have a "="."""

    def given(*words, options=(), cwd=tmp_path):
        command = okprof(*options, "/bin/cat", "/proc/self/environ")
        start = script("environ", str(len(words)), *map(os.fsdecode, words), *command)
        data = subprocess.run(start, cwd=cwd, check=True, stdout=subprocess.PIPE).stdout
        assert data.endswith(b"\0"), data
        return data[:-1].split(b"\0")

    return given


def split(words):
    """Return the words that are ours, and the others."""
    names = [word.partition(b"=")[0] for word in words if b"=" in word]
    assert sorted(name for name in names if name in OURS) == sorted(OURS)
    ours = {w.partition(b"=")[0]: w.partition(b"=")[2] for w in words if w.startswith(OURS)}
    return ours, [word for word in words if word.partition(b"=")[0] not in OURS]


@pytest.mark.spec("REC-3")
@pytest.mark.parametrize("locale", [b"LANG=C", b"LC_ALL=C.UTF-8", b"LC_CTYPE=C", b"LC_CTYPE=UTF-8"])
def test_byte_for_byte(given, locale):
    """All else is handed on as it came and in its order: empty, doubled, no text, and no pairs."""
    others = [
        locale, b"EMPTY=", b"SAME=1", b"\xff\xfe=\xc3\x28", b"no pair", b"=odd", b"NEWLINE=a\nb",
        b"SAME=2", b"OKRUN_PROFILE=kept", b"XOKRUN_PROF=kept", b"LAST==x=",
    ]  # fmt: skip
    _, rest = split(given(*others))
    assert rest == others


@pytest.mark.spec("REC-3")
@pytest.mark.parametrize("earlier", [[], [b""], [b"count:/elsewhere"], [b"1", b"2"]])
def test_own_variables(given, tmp_path, earlier):
    """Both are replaced by name, however often they are there; each run has a name of its own."""
    words = [name + b"=" + value for name in OURS for value in earlier]
    runs = set()
    for _ in range(2):
        ours, rest = split(given(*words, b"A=1", options=("--what=count,counters", "-o", "out")))
        assert ours[b"OKRUN_PROF"] == b"count,counters:" + os.fsencode(tmp_path / "out")
        assert re.fullmatch(rb"[0-9a-f]+-[0-9]+-[0-9a-f]{16}", ours[b"OKRUN_PROF_RUN"])
        assert rest == [b"A=1"]
        runs.add(ours[b"OKRUN_PROF_RUN"])
    assert len(runs) == 2


@pytest.mark.spec("REC-2", "REC-3")
@pytest.mark.parametrize("name", ["a:b", "a\nb", " ", "\udcff", "-x", "ü"])
def test_directory_of_any_name(given, tmp_path, name):
    """The directory is made at once, and handed on as a path that holds everywhere."""
    ours, _ = split(given(options=("-o", name)))
    assert ours[b"OKRUN_PROF"] == b"calls:" + os.fsencode(tmp_path / name)
    assert (tmp_path / name).is_dir()


@pytest.mark.spec("REC-2")
def test_parent_of_a_link(given, tmp_path):
    """A directory above a link's is the one that the system finds there."""
    (tmp_path / "far/inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("far/inner")
    ours, _ = split(given(options=("-o", "link/../out")))
    path = os.fsdecode(ours[b"OKRUN_PROF"]).removeprefix("calls:")
    assert os.path.samefile(path, tmp_path / "far/out")


@pytest.mark.spec("REC-2")
def test_new_directory(given, tmp_path):
    """Without -o there is a new directory for it while the command runs, called for the time."""
    ours, _ = split(given())
    folder = os.fsdecode(ours[b"OKRUN_PROF"]).removeprefix("calls:")
    assert os.path.dirname(folder) == str(tmp_path)
    assert re.fullmatch(r"okprof-[0-9]{8}-[0-9]{6}-[0-9]+", os.path.basename(folder))


@pytest.mark.spec("REC-2", "REC-8")
def test_directory_without_reports(record, tmp_path):
    """One that nobody named and that stayed empty is gone again; one that was named stays."""
    record("-o", "out", "true")
    record("true")
    assert os.listdir(tmp_path) == ["out"]
    record("sh", "-c", 'touch "${OKRUN_PROF#*:}/mine"')
    assert len(os.listdir(tmp_path)) == 2


@pytest.mark.spec("REC-2", "REC-12")
@pytest.mark.parametrize("folder", ["file", "file/below", "/proc/none", "loop"])
def test_no_directory(record, lines, tmp_path, folder):
    """Where the directory cannot be had nothing is run: one line, status 125."""
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    done = record("-o", folder, "sh", "-c", "echo ran")
    (line,) = lines(done.stderr)
    assert (done.returncode, done.stdout) == (125, b"")
    assert folder in line
