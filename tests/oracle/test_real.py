"""Real files of Debian's packages against llvm-symbolizer; `real.py` asks more, of more files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from real import compare, described
from real_files import SMALL, installed, subjects

ADDRESSES = 2000


@pytest.mark.spec("LIN-6", "LIN-7", "LIN-8", "LIN-9", "LIN-11", "LIN-16", "ADR-6", "SYM-3")
@pytest.mark.parametrize("package", SMALL, ids=lambda package: package.name)
def test_every_answer_is_llvm_symbolizers_or_a_trap_explains_it(package, tmp_path, monkeypatch):
    """In name, file, line, column and inlined calls, at random addresses inside of functions."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert installed(package), f"{package.name} is not installed; .ci/packages does that"
    for subject in subjects(package, tmp_path):
        result = compare(subject, ADDRESSES, tmp_path)
        assert result.equal > ADDRESSES // 10
        assert not result.unexplained, described(result.unexplained[0])
