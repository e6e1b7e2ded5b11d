"""The table of errors, as SPEC.md has it and as the host does."""

import errno
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `(kal_err_\w+)` \| (.+) \|$", re.MULTILINE)
KAL_ERROR = re.compile(r"^ *(kal_err_\w+) = (\d+),", re.MULTILINE)


@pytest.fixture
def table():
    """Return what SPEC.md says: names of errno values by the error that they become."""
    spec = (ROOT / "SPEC.md").read_text()
    clause = re.search(r"^### KAL-9  .*?(?=^### )", spec, re.MULTILINE | re.DOTALL)
    return {error: re.findall(r"`(E\w+)`", names) for error, names in ROW.findall(clause[0])}


@pytest.mark.spec("KAL-9")
def test_every_errno_value_becomes_what_the_table_says(build, table):
    """The host and SPEC.md say the same of each errno value, and of those that have no name."""
    types = (ROOT / "okld/sdk/include/openkal/types.h").read_text()
    numbers = {name: int(number) for name, number in KAL_ERROR.findall(types)}
    assert table.keys() == numbers.keys()
    listed = [getattr(errno, name) for names in table.values() for name in names]
    assert len(listed) == len(set(listed)) > 50
    want = [numbers["kal_err_io"]] * 4096
    for error, names in table.items():
        for name in names:
            want[getattr(errno, name)] = numbers[error]
    said = subprocess.run(build("kal_errors.c"), check=True, capture_output=True, text=True).stdout
    assert [int(line) for line in said.split()] == want
