"""What README.md shows is what the commands do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMANDS = Path(sys.executable).parent
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"SHA256:[\w+/]+|0x[0-9a-f]+|<?\b\d+(\.\d+)?( (ns|us|ms|s|%)(?!\w))?")


def shown() -> list[tuple[str, str]]:
    """Return each command of the README's `console` blocks with what stands below it."""
    pairs = []
    for block in CONSOLE.findall((ROOT / "README.md").read_text()):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, text = part.partition("\n")
            pairs.append((command, text))
    return pairs


def comparable(text: str) -> list[str]:
    """Return the lines without what differs from run to run: numbers, keys, widths, order."""
    return sorted(" ".join(NUMBER.sub("#", line).split()) for line in text.splitlines())


def test_console_blocks_show_what_happens(tmp_path):
    """Every command, run in order by a shell, prints what the README prints below it."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    env = {
        "PATH": f"{COMMANDS}{os.pathsep}/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
        "HOME": str(tmp_path),  # whose signatures are trusted
    }
    commands = [("okld build examples/hello.c -o hello.ok", ""), *shown()]
    assert len(commands) > 12
    for command, text in commands:
        ran = subprocess.run(
            ["sh", "-c", f"ulimit -c 0; {command}"],
            cwd=tmp_path,
            env=env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
        )
        assert comparable(ran.stdout) == comparable(text), command


def test_links_lead_somewhere():
    """Every file that a page links to is there."""
    for page in ROOT.glob("*.md"):
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (ROOT / link).exists(), f"{page.name}: {link}"
