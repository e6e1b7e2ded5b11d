"""Join the modules that a command imports into one file: ``join_modules.py OUTPUT``.

Finding, reading and decoding a module costs Python 0.1 ms before its first line runs, and a start
of an image or a name for an address needs forty: a third of Python's own start. The build therefore
makes ``_okrun.py`` and ``_okld.py`` of them, found by their imports, and ``bin/okrun`` and
``bin/okld`` import those; what only some answers need is in further files. Nothing is renamed: the
code of each module is a function there, which binds global names only and is executed with a module
of its own for its globals, under the name in `sys.modules` that it always has. What is only for
readers and type checkers (docstrings, annotations) is left out.
"""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

FIRST = {
    "_okrun.py": ("okrun.cli.okrun", "okrun.bundled"),
    "_okld.py": ("okld.cli.main", "okld.cli.symbolize"),
    "_okld_names.py": ("okld.syms.elf_sources",),
    "_okld_image.py": ("okld.image.shape",),
    "_okld_lines.py": ("okld.syms.dwarf", "okld.syms.dwarf.reader", "okld.syms.sections"),
}
"""Of each file the command, and what it needs besides: for a bundle; for a name with its line."""

LATER = {"_okld.py": ("_okld_names.py", "_okld_image.py", "_okld_lines.py")}
"""
Of a file those with what its command needs where no index answers.

Each is imported when its first module is asked for, and has no module that one before it has.
"""

KNOWN = {"okld.iface.table": ("INTERFACES", "_OWNERS")}
"""
What a module works out each time, and what never differs between two starts of one package.

Reading the surface from its text takes an eighth of a millisecond.
"""

HEAD = '''\
"""The modules of a command in one file; made by bin/join_modules.py, which says why."""

import _signal
import sys

# An interrupt ends this program as it ends any other: Python's own handler would print a traceback.
if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

_Module = type(sys)
_PLACE = __file__[: -len("{output}")]


def _add(name, file, make):
    module = sys.modules[name] = _Module(name)
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)
    module.__file__ = _PLACE + file
    if file.endswith("__init__.py"):
        module.__path__ = [module.__file__[: -len("/__init__.py")]]
    exec(make.__code__, module.__dict__)'''

FINDER = '''\
_LATER = {later}


class _Later:
    """Finds what is in another joined file, by the module that is asked for first."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in _LATER:
            return None
        sys.path.insert(0, _PLACE[:-1])
        __import__(_LATER.pop(name))
        del sys.path[0]
        return _Spec(name, _Later)

    @staticmethod
    def create_module(spec):
        return sys.modules[spec.name]

    @staticmethod
    def exec_module(module):
        """Do nothing: it is executed."""


_Spec = type(sys.__spec__)
sys.meta_path.insert(0, _Later)'''

LATER_HEAD = '''\
"""More modules of a command in one file; made by bin/join_modules.py, which says why."""

import sys

from {first} import _add as _add_new


def _add(name, file, make):
    if name not in sys.modules:
        _add_new(name, file, make)'''


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
    if module in KNOWN:
        state(module, tree)
    for name in imported(tree):
        visit(name, trees)
    trees[module] = tree


def state(module: str, tree: ast.Module) -> None:
    """Put the values of `KNOWN` in the place of what works them out."""
    values = vars(importlib.import_module(module))
    names = KNOWN[module]
    stated = f"{', '.join(names)} = {', '.join(repr(values[name]) for name in names)}"
    (at,) = [
        at
        for at, node in enumerate(tree.body)
        if isinstance(node, ast.Assign) and names == tuple(_names_in(node.targets[0]))
    ]
    tree.body[at] = ast.parse(stated).body[0]
    for node in reversed(tree.body.copy()):  # what a function of the module's own calls is above it
        others = _names_in(*(each for each in tree.body if each is not node))
        private = isinstance(node, ast.FunctionDef) and node.name.startswith("_")
        if private and node.name not in others:
            tree.body.remove(node)


def _names_in(*trees: ast.AST) -> list[str]:
    nodes = (node for tree in trees for node in ast.walk(tree))
    return [node.id for node in nodes if isinstance(node, ast.Name)]


def assigned(tree: ast.AST) -> set[str]:
    """Return the names that a module's own lines bind."""
    if isinstance(tree, (ast.FunctionDef, ast.ClassDef)):
        return {tree.name}
    if isinstance(tree, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return set()
    if isinstance(tree, (ast.Import, ast.ImportFrom)):
        return {name.asname or name.name.partition(".")[0] for name in tree.names}
    if isinstance(tree, ast.Name) and isinstance(tree.ctx, ast.Store):
        return {tree.id}
    return set().union(*map(assigned, ast.iter_child_nodes(tree)))


def function_of(name: str, tree: ast.Module) -> str:
    """Return a function called *name* whose code, executed with a module's globals, fills it."""
    names = sorted(assigned(tree))
    body = [ast.Global(names=names), *tree.body] if names else [ast.Pass()]
    text = ast.unparse(ast.fix_missing_locations(ast.Module(body=body, type_ignores=[])))
    return f"def {name}():\n    " + text.replace("\n", "\n    ")


def trees_of(output: str) -> dict[str, ast.Module]:
    """Return all modules that a file's first ones need, each after what it needs itself."""
    trees: dict[str, ast.Module] = {}
    for module in FIRST[output]:
        visit(module, trees)
    return trees


def joined(output: str) -> str:
    """Return the source of the file that is called *output*."""
    trees = trees_of(output)
    first = next((name for name, later in LATER.items() if output in later), "")
    if first:
        before = (first, *LATER[first][: LATER[first].index(output)])
        known = set().union(*map(trees_of, before))
        trees = {name: tree for name, tree in trees.items() if name not in known}
        parts = [LATER_HEAD.replace("{first}", first.removesuffix(".py"))]
    else:
        parts = [HEAD.replace("{output}", output)]
    for name, tree in trees.items():
        make = f"_{name.replace('.', '_')}"
        parts.append(function_of(make, tree))
        parts.append(f"_add({name!r}, {file_of(name)!r}, {make})")
    if output in LATER:
        later = {FIRST[name][0]: name.removesuffix(".py") for name in LATER[output]}
        parts.append(FINDER.replace("{later}", repr(later)))
    parts.append("" if first else f"from {FIRST[output][0]} import main as main\n")
    return "\n\n\n".join(parts)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.dont_write_bytecode = True
    path = Path(sys.argv[1])
    path.write_text(joined(path.name))
