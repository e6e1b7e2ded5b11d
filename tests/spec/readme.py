"""Run one of the README's first two commands as a newcomer does, in a copy of what is committed.

A copy and not a clone: there is no git on a bare machine, nor in an unpacked release.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def commands(readme: str) -> list[str]:
    """Return the commands of the README's `sh` blocks, in order."""
    return [block.strip() for block in re.findall(r"^```sh\n(.*?)^```", readme, re.M | re.S)]


def main() -> int:
    number, place = int(sys.argv[1]), Path(sys.argv[2])
    if not place.exists():
        made = [line[:-1] for line in (ROOT / ".gitignore").read_text().split() if line[-1] == "/"]
        shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(".git", *made), symlinks=True)
    command = commands((place / "README.md").read_text())[number - 1]
    print("$", command, flush=True)
    return subprocess.run(["sh", "-c", command], cwd=place).returncode


if __name__ == "__main__":
    sys.exit(main())
