"""A file that is another, or has changed, is never taken for the one that was remembered."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from starts import SECOND, finish, hello, overwrite

import okrun.admission.cache
import okrun.admission.examine
import okrun.anew
from okld.base.errors import OkError
from okld.base.identity import FIELDS, difference, identity_of, unsettled
from okrun.admission.identity import exchangeable


def refused(run, path: Path, rule: str) -> None:
    with pytest.raises(OkError) as caught:
        run(path)
    assert caught.value.rule == rule


@pytest.mark.spec("CAC-1", "CAC-15")
def test_the_same_file_is_a_hit(run, bundle):
    """What was admitted and has not changed is admitted by the record of the first time."""
    assert run(bundle) == "miss: there is no record; remembered"
    assert run(bundle) == "hit"
    assert run(bundle) == "hit"


@pytest.mark.spec("CAC-1")
@pytest.mark.parametrize("field", range(len(FIELDS)), ids=FIELDS)
def test_each_part_of_an_identity_counts(run, bundle, monkeypatch, field):
    """A file that differs in one of the five from the one that is remembered is another."""
    run(bundle)
    real = okrun.admission.cache.identity_of

    def other(status):
        return tuple(v + (i == field) for i, v in enumerate(real(status)))

    monkeypatch.setattr(okrun.admission.cache, "identity_of", other)
    expected = "there is no record" if field < 2 else f"the file's {FIELDS[field]} is another"
    assert run(bundle).startswith(f"miss: {expected};")


@pytest.mark.spec("CAC-1", "OKB-23")
def test_modification_time_is_set_back(run, bundle):
    """Bytes that are changed in place, with length, inode and modification time as they were."""
    run(bundle)
    before = bundle.stat()
    overwrite(bundle)
    os.utime(bundle, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = bundle.stat()
    assert difference(identity_of(before), identity_of(after)) == "change time"
    refused(run, bundle, "OKB-23")


@pytest.mark.spec("CAC-1")
def test_another_file_moved_over_it(run, bundle, place):
    """A file of the same length and modification time that takes its path."""
    run(bundle)
    before = bundle.stat()
    other = hello(place, b"HELLO\n", "other.okb")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.rename(bundle)
    after = bundle.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert run(bundle, b"HELLO\n") == "miss: there is no record; remembered"


@pytest.mark.spec("CAC-1")
def test_inode_is_used_again(run, bundle, place):
    """A file that is removed and written anew, until it gets the same inode, with its old times."""
    before = bundle.stat()
    run(bundle)
    other = hello(place, b"HELLO\n", "other.okb").read_bytes()
    for _ in range(50):
        bundle.unlink()
        bundle.write_bytes(other)
        if bundle.stat().st_ino == before.st_ino:
            break
    os.utime(bundle, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert run(bundle, b"HELLO\n").startswith("miss: ")


@pytest.mark.spec("CAC-1")
def test_the_same_inode_in_another_time():
    """Where all but the change time agrees it is still another file."""
    then = (1, 2, 3, 4, 5)
    assert difference(then, (1, 2, 3, 4, 6)) == "change time"
    assert difference(then, then) == ""


@pytest.mark.spec("CAC-1")
def test_all_files_have_one_modification_time(run, place):
    """Where every file has the same modification time, and the same length, they are told apart."""
    first = hello(place, name="first.okb")
    second = hello(place, b"HELLO\n", "second.okb")
    for path in (first, second):
        os.utime(path, ns=(SECOND, SECOND))
    assert first.stat().st_size == second.stat().st_size
    run(first)
    assert run(second, b"HELLO\n").startswith("miss: ")
    assert run(first) == "hit"
    assert run(second, b"HELLO\n") == "hit"


@pytest.mark.spec("CAC-3")
@pytest.mark.parametrize(
    ("age", "kept"),
    [
        pytest.param(-SECOND, False, id="in the future"),
        pytest.param(0, False, id="in the same tick"),
        pytest.param(2 * SECOND - 1, False, id="less than 2 s"),
        pytest.param(2 * SECOND, True, id="2 s"),
    ],
)
@pytest.mark.parametrize("which", ["modification", "change"])
def test_a_young_file(age, kept, which):
    """What changed less than 2 s ago may change again with no trace; the later time counts."""
    old, now = 10 * SECOND, 1000 * SECOND
    times = (now - age, old) if which == "modification" else (old, now - age)
    status = os.stat_result((0o100644, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0.0, 0.0, 0.0, 0, *times))
    assert (unsettled(status, now) == "") is kept


@pytest.mark.spec("CAC-3", "CAC-15")
def test_a_young_file_is_not_remembered(run, bundle, clock, cache):
    """What has just been written is admitted, and not remembered before it is 2 s old."""
    clock.ahead = 0
    os.utime(bundle)
    assert run(bundle) == (
        "miss: there is no record; not remembered: the file changed less than 2 s ago"
    )
    assert cache.records() == []
    clock.ahead = 3 * SECOND
    assert run(bundle).endswith("; remembered")


@pytest.mark.spec("CAC-3")
def test_a_file_of_the_future(run, bundle):
    """A file whose modification time is to come is never remembered."""
    soon = time.time_ns() + 3600 * SECOND
    os.utime(bundle, ns=(soon, soon))
    assert run(bundle).endswith("; not remembered: the file's times are in the future")


@pytest.mark.spec("CAC-3")
def test_the_clock_goes_back_and_forward(run, bundle, clock):
    """A record that is younger than nothing yet is, or older than it may be, is not used."""
    run(bundle)
    clock.ahead -= 5 * SECOND
    assert run(bundle).startswith("miss: the clock went back; ")
    clock.ahead += 3600 * SECOND
    assert run(bundle) == "hit"
    clock.ahead += 31 * 86400 * SECOND
    assert run(bundle) == "miss: the record is too old; remembered"
    assert run(bundle) == "hit"
    clock.ahead -= 40 * 86400 * SECOND
    assert run(bundle) == (
        "miss: the clock went back; not remembered: the file's times are in the future"
    )


@pytest.mark.spec("CAC-1")
def test_hard_link(run, bundle, place):
    """A second name moves the change time: one miss, and then both names are the one file's."""
    run(bundle)
    os.link(bundle, place / "second name.okb")
    assert run(bundle) == "miss: the file's change time is another; remembered"
    assert run(bundle) == "hit"
    assert run(place / "second name.okb") == "hit"


@pytest.mark.spec("CAC-1")
def test_somebody_touches_the_change_time(run, bundle):
    """What a backup does to the change time costs one miss."""
    run(bundle)
    bundle.chmod(0o600)
    assert run(bundle) == "miss: the file's change time is another; remembered"
    assert run(bundle) == "hit"


WRITER = """
import mmap, os, sys
file = open(sys.argv[1], "r+b")
memory = mmap.mmap(file.fileno(), 0)
at = memory.find(b"hello\\0 ")
memory[at] = memory[at]
file.close()
print(at, flush=True)
sys.stdin.readline()
memory[at : at + 5] = b"HELLO"
print("written", flush=True)
sys.stdin.readline()
"""
"""Makes its mapping dirty, and writes through it when it is told to."""


@pytest.mark.spec("CAC-4", "OKB-23")
def test_writer_through_a_shared_mapping(run, bundle, cache):
    """
    A writer whose mapping is dirty already changes bytes and not one of the five; while it lives
    nothing is remembered, so that its bytes are read, and refused.
    """
    words = [sys.executable, "-c", WRITER, bundle]
    with subprocess.Popen(words, stdin=-1, stdout=-1, text=True, bufsize=1) as writer:
        writer.stdout.readline()
        before = identity_of(bundle.stat())
        assert run(bundle).endswith("; not remembered: somebody is writing to the file")
        writer.stdin.write("\n")
        writer.stdout.readline()
        assert identity_of(bundle.stat()) == before, "a stat is said not to see this"
        assert cache.records() == []
        refused(run, bundle, "OKB-23")
        writer.stdin.write("\n")


@pytest.mark.spec("CAC-4")
def test_writer_comes_while_it_is_read(run, bundle, cache):
    """
    A writer that opens the file while it is read waits for no more than a block, and nothing is
    remembered.
    """
    words = [sys.executable, "-c", "import sys; open(sys.argv[1], 'r+b').close()", bundle]
    writers = []

    def progress(done: int, length: int) -> None:
        """Runs where the lease is held: after a block."""
        writers.append(subprocess.Popen(words))
        deadline = time.monotonic() + 30
        while not is_waited_for(bundle) and time.monotonic() < deadline:
            time.sleep(0.01)

    try:
        kept = "somebody began to write to the file"
        assert run(bundle, progress=progress).endswith(f"; not remembered: {kept}")
    finally:
        assert [writer.wait(30) for writer in writers] == [0]
    assert cache.records() == []


def is_waited_for(path: Path) -> bool:
    """Whether somebody waits for the end of a lease on a file. Source: proc_locks(5)."""
    inode = f":{path.stat().st_ino} "
    lines = Path("/proc/locks").read_text().splitlines()
    return any("LEASE" in line and "BREAK" in line and inode in line for line in lines)


@pytest.mark.spec("ADM-3")
def test_rewritten_in_place_while_it_is_read(run, bundle, monkeypatch):
    """Whoever had the file open before can still write: that refuses the start."""
    real = okrun.admission.examine.verify_digest

    def verify_digest(*args):
        overwrite(bundle, b'"version":""', b'"version":""')  # the same bytes: only times tell
        real(*args)

    monkeypatch.setattr(okrun.admission.examine, "verify_digest", verify_digest)
    monkeypatch.setattr(okrun.anew, "Lease", NoLease)
    refused(run, bundle, "ADM-3")


class NoLease:
    """A lease that the system did not give, so that a test can write at once."""

    refused = "a test"

    def __init__(self, fd: int) -> None:
        pass

    def check(self) -> None:
        pass

    def end(self) -> None:
        pass


@pytest.mark.spec("ADM-3", "OKB-23")
def test_other_bytes_while_it_is_read(run, bundle, monkeypatch):
    """A digest that differs because the file changed meanwhile is said to be that."""
    real = okrun.admission.examine.verify_digest

    def verify_digest(*args):
        overwrite(bundle)
        real(*args)

    monkeypatch.setattr(okrun.admission.examine, "verify_digest", verify_digest)
    monkeypatch.setattr(okrun.anew, "Lease", NoLease)
    refused(run, bundle, "ADM-3")


@pytest.mark.spec("PLAN-3", "ADM-1")
def test_changed_between_admission_and_mapping(starter, bundle):
    """The host looks again at the open file, and runs nothing of one that has changed."""
    for expected in ("miss", "hit"):
        start = starter(bundle)
        assert start.cache.startswith(expected)
        if expected == "hit":
            overwrite(bundle)
            status, out, err = finish(start)
            assert (status, out) == (126, b"")
            assert b"[PLAN-3]" in err
        else:
            assert finish(start) == (0, b"hello\n", b"")


STEPS = {
    "miss": [
        (okrun.bundled, "look_up"),
        (okrun.anew, "examine"),
        (okrun.anew, "read_member"),
        (okrun.anew, "read_shape"),
        (okrun.anew, "decide"),
        (okrun.anew, "store"),
    ],
    "hit": [
        (okrun.bundled, "look_up"),
        (okrun.bundled, "read_shape"),
        (okrun.bundled, "decide"),
    ],
}


@pytest.mark.spec("ADM-1")
@pytest.mark.parametrize(
    ("state", "step"), [(state, step) for state, steps in STEPS.items() for step in steps],
    ids=lambda value: value if isinstance(value, str) else value[1],
)  # fmt: skip
def test_path_is_swapped_at_each_step(starter, place, monkeypatch, state, step):
    """Whenever another file takes the path, what runs is the file that was opened."""
    here, there = place / "here", place / "there"
    here.mkdir()
    there.mkdir()
    bundle = hello(here)
    hello(there, b"HELLO\n")
    if state == "hit":
        finish(starter(bundle))
    real = getattr(*step)
    swapped = []

    def swap(*args, **more):
        """Moves the directories, so that the file itself stays as it is."""
        if not swapped:
            here.rename(place / "away")
            there.rename(here)
            swapped.append(True)
        return real(*args, **more)

    monkeypatch.setattr(*step, swap)
    start = starter(bundle)
    assert swapped == [True]
    assert start.cache.startswith(state)
    assert finish(start) == (0, b"hello\n", b"")


@pytest.mark.spec("ADM-3", "PLAN-3")
def test_name_is_taken_away(starter, bundle, place):
    """A file that loses its name meanwhile has changed, as far as anybody can see: once more."""
    os.link(bundle, place / "kept.okb")
    start = starter(bundle)
    os.replace(hello(place, b"HELLO\n", "other.okb"), bundle)
    status, out, err = finish(start)
    assert (status, out) == (126, b"")
    assert b"[PLAN-3]" in err


@pytest.mark.spec("ADM-1")
def test_path_is_swapped_before_the_start(run, starter, bundle, place):
    """A record does not follow the path: the next start of it is of the other file."""
    run(bundle)
    os.replace(hello(place, b"HELLO\n", "other.okb"), bundle)
    assert run(bundle, b"HELLO\n").startswith("miss: ")


@pytest.mark.spec("CAC-5")
@pytest.mark.parametrize(
    "kind", [b"tmpfs", b"overlay", b"nfs4", b"cifs", b"fuse.sshfs", b"9p", b"vfat", b""]
)  # fmt: skip
@pytest.mark.parametrize("when", ["stored", "used"])
def test_file_systems_that_do_not_tell(run, bundle, cache, monkeypatch, kind, when):
    """Where times or leases are not to be relied on, every start reads the file."""
    if when == "used":
        run(bundle)
        monkeypatch.setattr(os, "major", lambda device: 0)  # a number that any mount may get
    for module in (okrun.admission.cache, okrun.anew):
        monkeypatch.setattr(module, "file_system", lambda fd: kind)
    for _ in range(2):
        assert run(bundle).endswith("; not remembered: the file system may not tell of changes")
    assert len(cache.records()) == (when == "used")


@pytest.mark.spec("CAC-5")
def test_devices_that_may_be_exchanged(run, bundle, cache, monkeypatch):
    """
    What lies on a loop device, or on a disk that can be taken out, may be another file system at
    the next start, with a file of the same inode and times: nothing there is remembered.
    """
    assert not exchangeable(bundle.stat().st_dev)
    for major in (2, 7, 11, 43):
        assert exchangeable(os.makedev(major, 0))
    monkeypatch.setattr(okrun.admission.identity, "EXCHANGED", {os.major(bundle.stat().st_dev)})
    for _ in range(2):
        said = run(bundle)
        assert said.endswith("; not remembered: the device under the file may be exchanged")
    assert cache.records() == []


@pytest.mark.spec("CAC-5")
def test_tmpfs_does_not_tell(run, cache):
    """
    On a tmpfs a mapping that has read a page writes to it with no change of identity, and a lease
    is granted when it is gone; so nothing there is remembered.
    """
    path = Path("/dev/shm") / f"okrun-test-{os.getpid()}.okb"
    try:
        path.write_bytes(bytes(4096))
        before = identity_of(path.stat())
        with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
            assert memory[0] == 0
            time.sleep(0.02)
            memory[0] = 1
        assert path.read_bytes()[0] == 1
        assert identity_of(path.stat()) == before
        hello(path.parent, name=path.name)
        path.with_name(f"{path.name}.x86_64.ok").unlink()
        for _ in range(2):
            assert run(path).endswith("; not remembered: the file system may not tell of changes")
    finally:
        path.unlink()
    assert cache.records() == []


@pytest.mark.spec("CAC-5")
@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666])
def test_others_may_write(run, bundle, cache, mode):
    """A file that another user may write to is read each time."""
    bundle.chmod(mode)
    for _ in range(2):
        assert run(bundle) == (
            "miss: others may write to the file; not remembered: others may write to the file"
        )
    assert cache.records() == []


@pytest.mark.spec("CAC-5")
def test_another_user_owns_it(run, bundle, cache, monkeypatch):
    """So is a file that another user owns, root aside."""
    run(bundle)
    other = bundle.stat().st_uid + 1000
    real = os.fstat

    def fstat(fd):
        found = real(fd)
        if found.st_ino != bundle.stat().st_ino:
            return found
        return os.stat_result((*found[:4], other, *found[5:], *[
            getattr(found, name) for name in (
                "st_atime", "st_mtime", "st_ctime", "st_atime_ns", "st_mtime_ns", "st_ctime_ns")
        ]))  # fmt: skip

    monkeypatch.setattr(os, "fstat", fstat)
    assert run(bundle).startswith(f"miss: user {other} owns the file; not remembered: ")
