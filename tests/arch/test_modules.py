"""What a start imports is a fixed list: each module costs about 70 us before the image begins."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMAGE = ROOT / "testdata/images/hello.x86_64.ok"

WARM = [
    "gc",
    "okld",
    "okld.base",
    "okld.base.errors",
    "okld.base.limits",
    "okld.base.view",
    "okld.elf",
    "okld.elf.header",
    "okld.elf.tables",
    "okld.iface",
    "okld.iface.need",
    "okld.iface.note",
    "okld.iface.table",
    "okld.image",
    "okld.image.dynamic",
    "okld.image.relocs",
    "okld.image.segments",
    "okld.image.shape",
    "okld.image.symbols",
    "okrun",
    "okrun.admission",
    "okrun.admission.decide",
    "okrun.cli",
    "okrun.cli.okrun",
    "okrun.launch",
    "okrun.plan",
    "okrun.plan.codec",
    "okrun.plan.make",
    "okrun.start",
]
"""With what a bare Python has imported, all that a start of an image imports."""

OBSERVED = """
import os, sys

bare = set(sys.modules)

def tell(event, args):
    if event == "os.exec":
        os.write(1, "\\n".join(set(sys.modules) - bare).encode())
        os._exit(0)

sys.addaudithook(tell)
del sys.argv[0]
exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"))
"""


@pytest.mark.spec("CLI-3")
def test_a_start_imports_this_and_no_more():
    """At the moment of the execve the modules are those of the list."""
    okrun = Path(sys.executable).parent / "okrun"
    words = [sys.executable, "-P", "-c", OBSERVED, okrun, IMAGE]
    got = subprocess.check_output(words, text=True).split()
    assert set(got) == set(WARM)
