"""Whether the system tells of every change of a file."""

from __future__ import annotations

import os

FILE_SYSTEMS = frozenset((b"ext2", b"ext3", b"ext4", b"xfs", b"btrfs", b"f2fs"))
"""
Where every write, a first one through a shared mapping included, moves the change time, and where
a lease is refused while a writer lives.

Not tmpfs: a mapping that has read a page writes to it later without moving the change time. Not
overlayfs: a lease asks its own inode for writers, a mapping is of the inode below. Not NFS, CIFS,
FUSE, 9p or FAT: what fstat says there is old, coarse or another machine's word.
"""

EXCHANGED = frozenset((2, 7, 11, 43))
"""Majors of devices whose contents come and go under one number: floppies, loops, CDs, nbd."""

_OTHERS_WRITE = 0o022
_CHUNK = 1024  # bytes; the kernel makes as many lines as are asked for, each in a microsecond


def writable_by_others(status: os.stat_result, euid: int) -> str:
    """Return why another user may write to the file, or "". Source: CAC-5."""
    if status.st_uid not in (euid, 0):
        return f"user {status.st_uid} owns the file"
    if status.st_mode & _OTHERS_WRITE:
        return "others may write to the file"
    return ""


def exchangeable(device: int) -> str:
    """
    Return why another file system may come to lie on a block device under the same number, or "".

    Inodes and times there can then be those of the file that was admitted. Source: CAC-5.
    """
    major, minor = os.major(device), os.minor(device)
    sys = f"/sys/dev/block/{major}:{minor}"  # a partition's disk is the directory above it
    said = [_line(f"{place}/removable", b"1") for place in (sys, f"{sys}/..")]
    if major in EXCHANGED or any(said):
        return "the device under the file may be exchanged"
    return ""


def file_system(fd: int) -> bytes:
    """
    Return the type of the file system that an open file is on, or b"" where nothing says.

    It is that of the very mount the file was opened through: a device number would not do, btrfs
    has others for its files than for its mount. Source: proc_pid_mountinfo(5); CAC-5.
    """
    mount = _line(f"/proc/self/fdinfo/{fd}", b"mnt_id:")[7:].strip()
    if not mount:
        return b""
    line = _line("/proc/self/mountinfo", mount + b" ")
    return line.partition(b" - ")[2].partition(b" ")[0]


def _line(path: str, start: bytes) -> bytes:
    """Return the first line of a file of /proc that begins with *start*, or b""."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    data = b"\n"
    try:
        while True:
            at = data.find(b"\n" + start)
            end = data.find(b"\n", at + 1) if at >= 0 else -1
            if end >= 0:
                return data[at + 1 : end]
            more = os.read(fd, _CHUNK)
            if not more:
                return b""
            data += more
    except OSError:
        return b""
    finally:
        os.close(fd)
