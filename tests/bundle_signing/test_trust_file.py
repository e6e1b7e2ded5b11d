"""Whose file the trust file is, and how it is changed."""

from __future__ import annotations

import base64
import multiprocessing
import os
import stat

import pytest

from okld.base.errors import FormatError, Refusal, Unreadable
from okld.bundle import trust_edit
from okld.bundle.trust import parse_trust
from okld.bundle.trust_file import read_trust_file


def unchanged(file):
    """Return what a write or a replacement would change; a read changes the access time."""
    status = file.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@pytest.fixture
def line(known, public_line):
    return f"alice {public_line(known.blob)} at home"


@pytest.fixture
def file(tmp_path, line):
    """A trust file of ours in a directory of ours."""
    directory = tmp_path / "okrun"
    directory.mkdir(mode=0o700)
    path = directory / "allowed_signers"
    path.write_text(f"{line}\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def other_user(monkeypatch):
    """Be a user to whom the files that this one makes are another's."""

    def other_user(path):
        if os.geteuid() == 0:
            os.chown(path, 12345, -1)
        else:
            mine = os.geteuid()
            monkeypatch.setattr(os, "geteuid", lambda: mine + 1)

    return other_user


def refused(path, says):
    with pytest.raises(Refusal, match=rf"{says}.*\[TRU-5\]$"):
        read_trust_file(str(path))


@pytest.mark.spec("TRU-5")
@pytest.mark.parametrize("mode", [0o600, 0o400, 0o644])
def test_ours_is_read(file, line, mode):
    """Others may read it; nobody else may write it."""
    file.chmod(mode)
    assert read_trust_file(str(file)) == f"{line}\n".encode()


@pytest.mark.spec("TRU-5")
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666, 0o622])
def test_a_file_that_others_can_write(file, mode):
    """Whoever can write to it could say whom to trust."""
    file.chmod(mode)
    refused(file, "can be written by others; chmod go-w it")


@pytest.mark.spec("TRU-5")
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_directory_that_others_can_write(file, mode):
    """Whoever can write to the directory could put another file there."""
    file.parent.chmod(mode)
    refused(file, "directory .* can be written by others")


@pytest.mark.spec("TRU-5")
def test_a_directory_like_tmp(file):
    """Where only owners can rename, a file of ours stays ours."""
    file.parent.chmod(0o1777)
    assert read_trust_file(str(file))


@pytest.mark.spec("TRU-5")
def test_another_owner(file, other_user):
    """A file of another user's is refused, with the user's number."""
    other_user(file)
    refused(file, r"is of another owner \(user \d+\)")


@pytest.mark.spec("TRU-5")
def test_a_directory_of_another_owner(file, other_user):
    """So is one in another user's directory."""
    other_user(file.parent)
    refused(file, r"is of another owner \(user \d+\)")


@pytest.mark.spec("TRU-5")
def test_no_regular_file(file, tmp_path):
    """A FIFO and a device are refused, and nothing waits for somebody to write."""
    os.mkfifo(tmp_path / "fifo", 0o600)
    refused(tmp_path / "fifo", "is not a regular file")
    refused("/dev/null", "is not a regular file")


@pytest.mark.spec("TRU-5")
def test_a_symbolic_link(file, tmp_path):
    """A link is followed; both the directory that it is in and the one it leads to count."""
    loose = tmp_path / "loose"
    loose.mkdir()
    loose.chmod(0o777)
    link = tmp_path / "link"
    link.symlink_to(file)
    assert read_trust_file(str(link))
    (loose / "link").symlink_to(file)
    refused(loose / "link", "directory .*loose.* can be written by others")
    (loose / "file").write_bytes(b"")
    link.unlink()
    link.symlink_to(loose / "file")
    refused(link, "directory .*loose.* can be written by others")


@pytest.mark.spec("TRU-5")
def test_no_file(tmp_path):
    """Where there is none nobody is trusted; where one was asked for by name, it is an error."""
    path = str(tmp_path / "none")
    assert read_trust_file(path) == b""
    assert read_trust_file(f"{path}/none") == b""
    with pytest.raises(Unreadable, match="No such file"):
        read_trust_file(path, required=True)
    refused(tmp_path, "is not a regular file")


@pytest.mark.spec("TRU-1")
def test_a_long_file(file):
    """1 MiB is read, and a byte more is refused."""
    file.write_bytes(b"#" * (1 << 20))
    assert len(read_trust_file(str(file))) == 1 << 20
    file.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(FormatError, match=r"too long.*\[TRU-1\]$"):
        read_trust_file(str(file))


@pytest.mark.spec("TRU-7")
def test_add_makes_the_file(tmp_path, line):
    """A file of mode 0600 in a directory of mode 0700, whatever the umask."""
    path = tmp_path / "config" / "okrun" / "allowed_signers"
    before = os.umask(0)
    try:
        entry = trust_edit.add(str(path), line)
    finally:
        os.umask(before)
    assert (entry.principals, entry.comment) == (("alice",), "at home")
    assert path.read_text() == f"{line}\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert os.listdir(path.parent) == ["allowed_signers"]


@pytest.mark.spec("TRU-7")
@pytest.mark.parametrize("end", ["", "\n"])
def test_add_keeps_the_rest(file, known_rsa, public_line, end):
    """What was in the file stays, byte for byte, and the old file is never changed itself."""
    text = f"# comment  \n\n{file.read_text().rstrip()}{end}"
    file.write_text(text)
    inode = file.stat().st_ino
    with file.open() as old:
        trust_edit.add(str(file), f"bob {public_line(known_rsa.blob)}")
        assert old.read() == text
    want = f"{text.rstrip()}\nbob {public_line(known_rsa.blob)}\n"
    assert file.read_text() == want
    assert file.stat().st_ino != inode


@pytest.mark.spec("TRU-7")
def test_add_refuses_a_key_twice(file, line):
    """A key that is there already is refused, also for somebody else, and nothing is written."""
    before = unchanged(file)
    for again in (line, line.replace("alice", "bob")):
        with pytest.raises(Refusal, match=r"already, on line 1, for alice \[TRU-7\]$"):
            trust_edit.add(str(file), again)
    assert unchanged(file) == before


@pytest.mark.spec("TRU-7", "TRU-1")
@pytest.mark.parametrize("text", ["", "# x", "alice", "a\nb", "\n"])
def test_add_refuses_no_line(file, line, text):
    """What is not one line that names a key is not written, nor are two."""
    before = file.read_bytes()
    for wrong in (text, f"{line}\n{line}", f"#{line}"):
        with pytest.raises(FormatError, match=r"^the line .*\[TRU-1\]$"):
            trust_edit.add(str(file), wrong)
    assert file.read_bytes() == before


@pytest.mark.spec("TRU-7", "TRU-5")
def test_a_file_of_others_is_not_changed(file, known_rsa, public_line):
    """What would not be read is not added to."""
    file.chmod(0o666)
    with pytest.raises(Refusal, match=r"\[TRU-5\]$"):
        trust_edit.add(str(file), f"bob {public_line(known_rsa.blob)}")


@pytest.mark.spec("TRU-7")
def test_add_follows_a_link(file, tmp_path, known_rsa, public_line):
    """Where the file is a link, what it leads to gets the line, and the link stays."""
    link = tmp_path / "link"
    link.symlink_to(file)
    trust_edit.add(str(link), f"bob {public_line(known_rsa.blob)}")
    assert link.is_symlink()
    assert len(parse_trust(file.read_bytes())) == 2


@pytest.mark.spec("TRU-7")
def test_what_a_killed_process_left(file, known_rsa, public_line):
    """A new file that was never renamed is in nobody's way."""
    left = file.with_name("allowed_signers.new")
    left.write_text("half a li")
    trust_edit.add(str(file), f"bob {public_line(known_rsa.blob)}")
    assert not left.exists()
    assert len(parse_trust(file.read_bytes())) == 2


def _add(path, number):
    key = b"\0\0\0\x0bssh-ed25519\0\0\0 " + number.to_bytes(32, "big")
    trust_edit.add(path, f"user{number} ssh-ed25519 {base64.b64encode(key).decode()}")


@pytest.mark.spec("TRU-7")
def test_many_at_once(file):
    """Of lines that are added at the same time none is lost."""
    context = multiprocessing.get_context("fork")
    adders = [context.Process(target=_add, args=(str(file), n)) for n in range(12)]
    for adder in adders:
        adder.start()
    for adder in adders:
        adder.join()
    names = sorted(entry.principals[0] for entry in parse_trust(file.read_bytes()))
    assert names == sorted(["alice", *(f"user{n}" for n in range(12))])


@pytest.mark.spec("TRU-7")
def test_a_directory_that_cannot_be_made(tmp_path, line):
    """What the system refuses is one line."""
    (tmp_path / "file").touch()
    with pytest.raises(Unreadable, match="trust file"):
        trust_edit.add(str(tmp_path / "file" / "okrun" / "allowed_signers"), line)


@pytest.mark.spec("TRU-8")
def test_remove(file, known, known_rsa, public_line):
    """A name is taken off every line, a line goes when it names nobody, the rest stays."""
    one, two = public_line(known.blob), public_line(known_rsa.blob)
    other = public_line(b"\0\0\0\x0bssh-ed25519\0\0\0 " + bytes(32))
    file.write_text(
        f'# alice\n  alice {one}\n"bob b,alice"\tnamespaces="okb"  {two}  x\n'
        f"alice,!eve {other}\r\n# end"
    )
    gone = trust_edit.remove(str(file), "alice")
    assert [entry.line for entry in gone] == [2, 3, 4]
    assert file.read_text() == f'# alice\n"bob b"\tnamespaces="okb"  {two}  x\n# end'


@pytest.mark.spec("TRU-8")
def test_remove_by_fingerprint(file, known, known_rsa, public_line):
    """A key goes with its line, whoever else the line names."""
    one, two = public_line(known.blob), public_line(known_rsa.blob)
    file.write_text(f"alice,bob {one}\ncarol {two}\n")
    (entry,) = parse_trust(f"x {one}".encode())
    assert trust_edit.remove(str(file), entry.key.fingerprint)[0].principals == ("alice", "bob")
    assert file.read_text() == f"carol {two}\n"


@pytest.mark.spec("TRU-8")
@pytest.mark.parametrize("word", ["", "ali", "alice*", "SHA256:", "ssh-ed25519", "!alice"])
def test_nothing_to_remove(file, word):
    """Only a whole name or a whole fingerprint is one."""
    before = unchanged(file)
    with pytest.raises(Refusal, match=r"\[TRU-8\]$"):
        trust_edit.remove(str(file), word)
    assert unchanged(file) == before


@pytest.mark.spec("TRU-7", "TRU-1")
@pytest.mark.parametrize(
    "name", ["", " ", "a,b", 'a"b', "a\nb", "a\tb", "!a", "\x1b[2J", "a\0", "\udcff"]
)
def test_names_that_cannot_be(name):
    """What would be read as something else is no name for a principal."""
    with pytest.raises(FormatError, match=r"\[TRU-1\]$"):
        trust_edit.line_of(name, "ssh-ed25519 AAAA")


@pytest.mark.spec("TRU-7")
@pytest.mark.parametrize("name", ["alice@example.org", "Alice A", "#1", "*", "ü", " a"])
def test_names_come_back(known, public_line, name):
    """A name in a line that is made of it is read as that name."""
    line = trust_edit.line_of(name, public_line(known.blob))
    (entry,) = parse_trust(line.encode())
    assert entry.principals == (name,)
