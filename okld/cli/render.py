"""What the commands write, as text and as JSON. Nothing here reads a file."""

from __future__ import annotations

from okld.base.errors import OkError, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from okld.iface.host import HostProgram
    from okld.iface.need import Interfaces
    from okld.image.model import ProgramFile
    from okld.syms.choose import Symbol
    from okld.syms.foreign_table import ForeignTable
    from okld.syms.table import Table

_TYPES = {0: "notype", 1: "object", 2: "func", 3: "section", 4: "file", 5: "common", 6: "tls"}
_TYPES |= {10: "gnu_ifunc"}
_PLACES = {0: "undefined", 0xFFF1: "absolute", 0xFFF2: "common"}
_BINDINGS = {0: "local", 1: "global", 2: "weak", 10: "gnu_unique"}


def json_line(value: dict[str, Any]) -> str:
    """Return *value* as one line of JSON of schema 1, ASCII only. Source: CLI-2."""
    import json  # as dear as a third of Python's own start

    return json.dumps({"schema": 1, **value}) + "\n"


def program(file: ProgramFile, path: str, declared: Interfaces | None, *, as_json: bool) -> str:
    """Return the description of a program file, and of what it declares if it is an ok image."""
    if as_json:
        from attrs import asdict

        image = {"interfaces": _interfaces(declared)} if declared else {}
        return json_line({"file": path, **asdict(file), **image})
    lines = [f"{printable(path)}: {_summary(file)}"]
    for part in file.slices or (file,):
        if file.slices:
            lines.append(f"slice: {_summary(part)}")
        lines += _details(part)
    text = "\n".join(lines) + "\n"
    return text + _declaration(declared) if declared else text


def _summary(file: ProgramFile) -> str:
    if file.slices:
        return f"{file.format}, {len(file.slices)} slices"
    return f"{file.format} {file.type} {file.arch}, {file.bits} bits, {file.byte_order}-endian"


def _details(file: ProgramFile) -> list[str]:
    lines = []
    if file.entry is not None:
        lines.append(f"entry: {file.entry:#x}")
    if file.build_id:
        lines.append(f"build id: {file.build_id}")
    if file.interpreter:
        lines.append(f"interpreter: {printable(file.interpreter)}")
    lines += [f"needs: {printable(name)}" for name in file.needed]
    lines.append(f"segments: {len(file.segments)}, sections: {len(file.sections)}")
    lines.append("  flags address      in memory  offset     in file    type")
    lines += [
        f"  {s.flags}   {s.vaddr:#012x} {s.memsz:<#10x} {s.offset:<#10x} {s.filesz:<#10x} "
        f"{s.type} {printable(s.name)}".rstrip()
        for s in file.segments
    ]
    return lines


def interfaces(
    found: Interfaces, path: str, host: HostProgram | None = None, *, as_json: bool
) -> str:
    """Return what an image declares and uses, and what a host program lacks for it."""
    if as_json:
        lacking = {"host": _host(host, found)} if host else {}
        return json_line({"image": path, **_interfaces(found), **lacking})
    lacks = _lacks(host, found) if host else ""
    return f"{printable(path)}:\n{_declaration(found)}{lacks}"


def _host(host: HostProgram, image: Interfaces) -> dict[str, Any]:
    from attrs import asdict

    from okld.iface.table import version_text

    described = {**asdict(host), "version": version_text(host.version)}
    return described | {"lacks": asdict(host.lacking(image))}


def _lacks(host: HostProgram, image: Interfaces) -> str:
    from okld.iface.table import version_text

    lacking = host.lacking(image)
    version = f"openkal {version_text(host.version)}"
    return (
        f"host program: {printable(host.path)}, {host.arch}, {version}\n"
        f"lacks of what is required: {_list(lacking.required)}\n"
        f"lacks of what is optional: {_list(lacking.optional)}\n"
    )


def _interfaces(found: Interfaces) -> dict[str, Any]:
    from okld.iface.table import version_text

    return {
        "version": version_text(found.version),
        "declared_by": found.declared_by,
        "required": found.required,
        "optional": found.optional,
        "used": found.used,
        "undeclared": found.undeclared,
        "unknown": found.unknown,
        "stack": found.stack,
    }


def _declaration(found: Interfaces) -> str:
    from okld.iface.table import version_text

    lines = [f"openkal {version_text(found.version)}, declared by its {found.declared_by}"]
    lines += [f"required: {_list(found.required)}", f"optional: {_list(found.optional)}"]
    lines += [f"used: {name}: {_list(functions)}" for name, functions in found.used.items()]
    if found.undeclared:
        lines.append(f"used and not declared: {_list(found.undeclared)}")
    if found.unknown:
        lines.append(f"not on the surface: {_list(found.unknown)}")
    return "\n".join(lines) + "\n"


def _list(names: Sequence[str]) -> str:
    return " ".join(map(printable, names)) or "-"


def verdict(path: str, error: OkError | None, *, as_json: bool) -> str:
    """Return whether a file would be admitted, and if not by what it is refused."""
    if as_json:
        return json_line(
            {
                "file": path,
                "ok": error is None,
                "rule": (error.rule or None) if error else None,
                "message": str(error) if error else None,
                "at": error.at if error else None,
            }
        )
    return f"{printable(path)}: {error or 'ok'}\n"


def symbol_list(table: Table | ForeignTable, path: str, *, as_json: bool) -> Iterable[str]:
    """
    Give the named symbols in the table's order: a line each, or one object as JSON.

    It is given in pieces, as what names take together can be many times what the file takes.
    """
    named = (symbol for symbol in table if symbol.name)
    if as_json:
        import json

        head = json_line({"file": path, "table": table.source or None, "symbols": []})
        yield head.removesuffix("]}\n")
        for index, symbol in enumerate(named):
            yield (", " if index else "") + json.dumps(_symbol(symbol))
        yield "]}\n"
        return
    for symbol in named:
        row = _symbol(symbol)
        version = f"@{printable(symbol.version)}" if symbol.version else ""
        yield (
            f"{symbol.value:#018x} {symbol.size:#10x} {row['binding']:6} {row['type']:7} "
            f"{_PLACES.get(symbol.section, symbol.section):<9} {printable(symbol.name)}{version}\n"
        )


def _symbol(symbol: Symbol) -> dict[str, Any]:
    return {
        "name": symbol.name,
        "version": symbol.version or None,
        "value": symbol.value,
        "size": symbol.size,
        "type": _TYPES.get(symbol.type, str(symbol.type)),
        "binding": _BINDINGS.get(symbol.binding, str(symbol.binding)),
        "section": symbol.section,
    }


def words(name: str, options: Sequence[str], *, as_json: bool) -> str:
    """Return options as one line for a shell, or as the list *name*."""
    if as_json:
        return json_line({name: options})
    import shlex

    return shlex.join(options) + "\n"
