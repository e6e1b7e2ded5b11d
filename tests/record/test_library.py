"""`okrun.record` is what the command stands on."""

import errno
import os
import resource
import signal
import sys
import threading

import pytest

import okrun
from okrun.forwarding import NotStarted, run
from okrun.measuring import Usage


@pytest.mark.spec("REC-1", "REC-9")
def test_record(script, tmp_path):
    """The result has the command's status and the reports of this run."""
    words = [str(word) for word in script("image", "a.ok", "os._exit(3)")]
    first = okrun.record(words, directory=str(tmp_path))
    assert (first.returncode, first.reports, len(first.unfinished)) == (3, (), 1)
    second = okrun.record(words[:-1], what="calls,counters", directory=str(tmp_path))
    (report,) = second.reports
    assert (report.run, report.what) == (second.run, ("calls", "counters"))
    assert (second.returncode, second.unfinished, second.lost) == (0, (), "")
    assert okrun.record(["sh", "-c", "kill $$"], directory=str(tmp_path)).returncode == -15


@pytest.mark.spec("REC-3", "REC-7")
def test_leaves_the_process_as_it_was(tmp_path):
    """The caller's environment, signals and descriptors are what they were."""

    def here():
        handlers = [signal.getsignal(number) for number in signal.valid_signals()]
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
        return dict(os.environ), handlers, mask, os.listdir("/proc/self/fd")

    before = here()
    okrun.record([sys.executable, "-c", "print()"], directory=str(tmp_path))
    assert here() == before


@pytest.mark.spec("REC-2")
def test_disk_without_nameless_files(monkeypatch, tmp_path):
    """Where a file system has no files without a name one with a name is tried, and is gone."""
    really = os.open

    def refuse(path, flags, *mode):
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP), path)
        return really(path, flags, *mode)

    monkeypatch.setattr(os, "open", refuse)
    assert okrun.record(["true"], directory=str(tmp_path)).lost == ""
    assert os.listdir(tmp_path) == []


@pytest.mark.spec("REC-7")
def test_no_descriptor_left():
    """Where nothing can be opened any more the caller's signals come as before."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            run(["true"], {})
        assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == mask
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@pytest.mark.spec("REC-1")
def test_in_a_thread(tmp_path):
    """It waits in a thread as well, where another may be told of the command's end."""
    ended = []

    def wait():
        ended.append(okrun.record(["sh", "-c", "exit 9"], directory=str(tmp_path)).returncode)

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join(60)
    assert ended == [9]


@pytest.mark.spec("REC-12")
def test_errors(tmp_path):
    """What cannot be done is an error of a kind of its own."""
    for words, what in (([], "calls"), (["true"], ""), (["true"], "a"), (["true"], "calls:x")):
        with pytest.raises(Usage):
            okrun.record(words, what=what, directory=str(tmp_path))
    with pytest.raises(NotStarted) as raised:
        okrun.record(["./none"], directory=str(tmp_path))
    assert (raised.value.errno, raised.value.path) == (2, "./none")
    with pytest.raises(NotStarted):
        okrun.record(["true", "a\0b"], directory=str(tmp_path))
