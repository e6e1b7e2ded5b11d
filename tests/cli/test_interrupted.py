"""`okld` told to end while it makes something."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

OKLD = Path(__file__).parents[2] / "bin/okld"


@pytest.mark.spec("OKB-26")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_bundle_leaves_nothing(images, tmp_path, number):
    """It ends by the signal and says nothing; the bundle that was there is there."""
    image, output = tmp_path / "large.ok", tmp_path / "x.okb"
    image.write_bytes((images / "hello.x86_64.ok").read_bytes())
    os.truncate(image, 1 << 28)
    output.write_bytes(b"before")
    command = [sys.executable, OKLD, "bundle", image, "-o", output]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        while not list(tmp_path.glob("*.part")):
            assert process.poll() is None
            time.sleep(0.002)
        process.send_signal(number)
        assert process.wait() == -number
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert output.read_bytes() == b"before"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["large.ok", "x.okb"]
