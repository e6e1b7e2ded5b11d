"""Every rule refuses what breaks it, and says what that is (testdata/bad.toml)."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from elf_fields import Fields

from okld.base.errors import FormatError
from okld.base.view import View
from okld.image.shape import read_shape

TABLE = tomllib.loads((Path(__file__).parents[2] / "testdata/bad.toml").read_text())
CASES = [
    pytest.param(rule, case if isinstance(case, dict) else {"edit": case}, id=f"{rule}: {name}")
    for rule, cases in TABLE.items()
    for name, case in cases.items()
]


@pytest.mark.spec(
    "IMG-1", "IMG-2", "IMG-3", "IMG-4", "IMG-5", "IMG-6", "IMG-7", "IMG-8", "IMG-9", "IMG-10",
    "IMG-11", "IMG-12", "IMG-13", "IMG-14", "IMG-15", "IMG-16", "IMG-17", "IMG-18", "IMG-19",
    "IMG-20", "IMG-21", "IMG-22", "IMG-23", "IMG-24", "IMG-25", "IMG-26", "IMG-27", "IMG-28",
    "IMG-29", "IMG-30", "IMG-31", "IMG-32", "IMG-33", "IMG-34", "IMG-35", "IMG-36", "IMG-37",
    "IMG-38", "IMG-39", "IMG-40",
)  # fmt: skip
@pytest.mark.parametrize("arch", ["x86_64", "aarch64"])
@pytest.mark.parametrize(("rule", "case"), CASES)
def test_the_rule_that_is_broken_refuses(
    full: Callable[[str], bytes], rule: str, case: dict[str, str], arch: str
) -> None:
    """One edit is refused by the clause it breaks, in one line that names the thing."""
    image = full(f"{case.get('linker', 'lld')}-{arch}")
    with pytest.raises(FormatError) as refusal:
        read_shape(View.of_bytes(Fields(image).edit(case["edit"])))
    assert refusal.value.rule == rule, str(refusal.value)
    assert str(refusal.value).endswith(f" [{rule}]")
    assert case.get("says", "") in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.spec("IMG-1")
def test_every_clause_of_the_chapter_has_a_case() -> None:
    """No rule of the image format goes without a broken image."""
    assert set(TABLE) == {f"IMG-{n}" for n in range(1, 41)}
