"""SPEC.md and the tests name the same clauses."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADING = re.compile(r"^#{3,4} ([A-Z]+-[0-9]+)  \S", re.MULTILINE)
C_MARK = re.compile(r"\bSPEC: ([A-Z]+-[0-9]+(?:, [A-Z]+-[0-9]+)*)")


def clauses() -> list[str]:
    return HEADING.findall((ROOT / "SPEC.md").read_text())


def marked(tree: ast.AST) -> list[str]:
    """Every id in a `pytest.mark.spec(...)` of a test module, as decorator or as `pytestmark`."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.spec":
            found += [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
    return found


def ids_in_tests() -> dict[str, str]:
    ids = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        ids.update(dict.fromkeys(marked(ast.parse(path.read_text())), path.name))
    for path in sorted((ROOT / "tests").rglob("*.c")):
        for group in C_MARK.findall(path.read_text()):
            ids.update(dict.fromkeys(group.split(", "), path.name))
    return ids


def test_clause_ids_are_unique() -> None:
    """No two clauses share an id."""
    ids = clauses()
    assert len(ids) > 80
    assert sorted(ids) == sorted(set(ids))


def test_every_clause_has_a_test() -> None:
    """A clause without a test is a wish."""
    assert sorted(set(clauses()) - set(ids_in_tests())) == []


def test_every_marker_names_a_clause() -> None:
    """A test marked with an id that SPEC.md does not have proves nothing."""
    known = set(clauses())
    assert {i: f for i, f in ids_in_tests().items() if i not in known} == {}


def test_every_clause_says_shall_once() -> None:
    """One clause, one duty."""
    parts = re.split(r"^#{3,4} ([A-Z]+-[0-9]+)  ", (ROOT / "SPEC.md").read_text(), flags=re.M)
    counts = {
        name: len(re.findall(r"\bshall\b", re.split(r"^#{2,4} ", body, flags=re.M)[0]))
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }
    assert {name: n for name, n in counts.items() if n != 1} == {}


def test_every_rule_in_the_code_is_a_clause() -> None:
    """A rule that an error names can be looked up."""
    known = set(clauses())
    rule = re.compile(r"^(?!UTF-)[A-Z]{2,5}-[0-9]{1,2}$")
    unknown = {}
    for package in ("okld", "okrun"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and rule.match(node.value)
                    and node.value not in known
                ):
                    unknown[node.value] = path.name
    assert unknown == {}
