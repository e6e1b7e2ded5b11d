"""Join the modules that a start of an image imports into one file: ``join_modules.py OUTPUT``.

Finding, reading and decoding a module costs Python 0.1 ms before its first line runs, and a start
needs thirty: a third of Python's own start. The build therefore makes ``okrun/start.py`` of them,
found by their imports, and ``bin/okrun`` imports that. Nothing is renamed: each module is a
function there, whose local names become the module's, so that every module has its own namespace,
and the name in `sys.modules` that it always has. What is only for readers and type checkers
(docstrings, annotations) is left out.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

FIRST = "okrun.cli.okrun"

HEAD = '''\
"""The modules of a start in one file; made by bin/join_modules.py, which says why."""

import sys

_Module = type(sys)
_PLACE = __file__[: -len("okrun/start.py")]


def _add(name, file, make):
    module = sys.modules[name] = _Module(name)
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)
    module.__file__ = _PLACE + file
    if file.endswith("__init__.py"):
        module.__path__ = [module.__file__[: -len("/__init__.py")]]
    module.__dict__.update(make(name, module.__file__))


'''


class _Bare(ast.NodeTransformer):
    """Leaves out docstrings, annotations, and what is there for type checkers only."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.returns = None
        node.body = node.body or [ast.Pass()]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.Assign | None:
        return node.value and ast.Assign(targets=[node.target], value=node.value)

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else node

    def visit_If(self, node: ast.If) -> ast.AST | None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return None
        return self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom | None:
        return None if node.module == "__future__" else node


def file_of(module: str) -> str:
    """Return a module's file, from the root of the packages."""
    place = module.replace(".", "/")
    return f"{place}/__init__.py" if (ROOT / place).is_dir() else f"{place}.py"


def imported(tree: ast.Module) -> list[str]:
    """Return the modules of ours that a module imports when it is imported, in order."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = [f"{node.module}.{name.name}" for name in node.names]
            found += [node.module, *(name for name in inner if (ROOT / file_of(name)).exists())]
    return [name for name in found if name.split(".")[0] in ("okld", "okrun")]


def visit(module: str, trees: dict[str, ast.Module]) -> None:
    """Add to *trees* what *module* imports, and then itself: each stands after what it needs."""
    if module in trees:
        return
    parent = module.rpartition(".")[0]
    if parent:
        visit(parent, trees)
    tree = _Bare().visit(ast.parse((ROOT / file_of(module)).read_text()))
    for name in imported(tree):
        visit(name, trees)
    trees[module] = tree


def joined() -> str:
    """Return the source of okrun/start.py."""
    trees: dict[str, ast.Module] = {}
    visit(FIRST, trees)
    parts = [HEAD]
    for name, tree in trees.items():
        file = file_of(name)
        if any(isinstance(node, ast.Global) for node in ast.walk(tree)):
            raise SystemExit(f"{file}: a global statement means another namespace when joined")
        if name == "okrun":  # its package has been imported, to find this file
            continue
        tree.body.append(ast.parse("return locals()").body[0])
        body = ast.unparse(ast.fix_missing_locations(tree)).replace("\n", "\n    ")
        make = name.replace(".", "_")
        parts.append(f"def {make}(__name__, __file__):\n    {body}\n\n\n")
        parts.append(f"_add({name!r}, {file!r}, {make})\n\n\n")
    parts.append(f"from {FIRST} import main as main\n")
    return "".join(parts)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(joined())
