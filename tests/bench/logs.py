"""A log of 1 GiB: memory that does not grow with it, and the processor time of a simple filter."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from rows import Row

SIZE = 1 << 30
LINE = (
    b"2024-05-01T12:00:00.123Z INFO  server.request method=GET path=/api/v1/items status=200 x=%d\n"
)
FRAME = b"    #1 0x%x  (%s+0x%x)\n"
SOURCE = "int f(int x) { return x * x; }\nint main(int n, char **v) { (void)v; return f(n); }\n"


def filtered(command: Sequence[str], block: bytes) -> tuple[float, float, str]:
    """Pass *block* through *command*, SIZE bytes in all; return ms of CPU, peak MB, digest."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        into = process.stdin

        def write() -> None:
            for _ in range(SIZE // len(block)):
                into.write(block)
            into.close()

        writer = threading.Thread(target=write)
        writer.start()
        digest = hashlib.sha256()
        while piece := process.stdout.read(1 << 20):
            digest.update(piece)
        writer.join()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    taken = (usage.ru_utime + usage.ru_stime) * 1000
    return taken, usage.ru_maxrss / 1024, digest.hexdigest()


def run(work: Path) -> Iterator[Row]:
    okld = str(Path(sys.executable).with_name("okld"))
    source, program = work / "f.c", work / "f"
    source.write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-no-pie", source, "-o", program], check=True)
    names = subprocess.check_output(["nm", program], text=True).splitlines()
    at = next(int(line.split()[0], 16) for line in names if line.endswith(" T f"))
    plain = b"".join(LINE % i for i in range(12_000))
    frame = FRAME % (at, bytes(program), at)
    named = frame.replace(b"  (", b" in f+0x0 (%s:1:14) (" % bytes(source))
    for what, added, want in (("no frames", b"", b""), ("a frame a MiB", frame, named)):
        ours = filtered([okld, "symbolize"], plain + added)
        peer = filtered(["sed", "s/ 0x/ 0x/"], plain + want)
        assert ours[2] == peer[2], "the output is not the right one"
        yield Row(
            what=f"a log of 1 GiB, {what}", ours=ours[:1], peer=peer[:1], against="sed", budget=5
        )
        yield Row(what=f"a log of 1 GiB, {what}: memory", ours=ours[1:2], unit="MB", budget=64)
