"""
Make from `surface.txt` what cannot read it: C headers, the native host's list, a table for SPEC.

Runs when the project is built, as a module or as a plain file, which is why it is one file:

    generate.py --headers DIR               a header an interface, types.h, version.h, openkal.h
    generate.py --list FILE                 X-macros for a host of every interface
    generate.py --list FILE --hosted abort,stream   the same for one of these alone
    generate.py --table                     the table of SPEC chapter 4, on standard output
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

SURFACE = Path(__file__).with_name("surface.txt")
RUNNERS = {"openkal.prof", "openkal.debug"}  # answered by the runner, whatever the host is
WIDTH = 100  # columns of a header


@dataclass(frozen=True, kw_only=True)
class Function:
    """
    One function.

    Attributes:
        result: A C type, or `noreturn`.
        params: C declarations.
        position: Of its interface; -1 for none.
    """

    name: str
    result: str
    params: tuple[str, ...]
    what: str
    position: int

    @property
    def declared(self) -> str:
        """The parameters as a declaration has them."""
        return ", ".join(self.params) or "void"

    @property
    def arguments(self) -> str:
        """The names of the parameters, as a call has them."""
        return ", ".join(name_of_param(param) for param in self.params)


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Any other line: its first word, name, fields, and what it is; *members* of a struct."""

    word: str
    name: str
    fields: tuple[str, ...]
    what: str
    members: list[Fact] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Interface:
    """One interface and all that belongs to it; the one named "" has what belongs to none."""

    name: str
    position: int
    what: str
    facts: list[Fact] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)

    @property
    def short(self) -> str:
        """The name without `openkal.`, as files and macros have it."""
        return self.name.removeprefix("openkal.")


def name_of_param(param: str) -> str:
    """Return the name that the C declaration *param* declares."""
    if "(*" in param:
        return param.split("(*", 1)[1].split(")", 1)[0]
    return param.replace("*", " ").split()[-1]


def read_surface() -> tuple[str, list[Interface]]:
    """
    Return the version, and the interfaces by position after the one without a name.

    Raises:
        ValueError: If a line is not of the grammar, or a position is out of order.
    """
    version = ""
    interfaces = [Interface(name="", position=-1, what="")]
    for line in SURFACE.read_text(encoding="ascii").splitlines():
        if not line or line.startswith("#"):
            continue
        word, rest = line.split(" ", 1)
        name, *fields = (part.strip() for part in rest.split(" |"))
        here = interfaces[-1]
        if word == "version":
            version = name
        elif word == "interface" and int(fields[0]) == here.position + 1:
            interfaces.append(Interface(name=name, position=int(fields[0]), what=fields[1]))
        elif word == "function":
            params = tuple(param.strip() for param in fields[1].split(",") if param)
            here.functions.append(
                Function(
                    name=name,
                    result=fields[0],
                    params=params,
                    what=fields[2],
                    position=here.position,
                )
            )
        elif word == "field":
            here.facts[-1].members.append(
                Fact(word=word, name=name, fields=tuple(fields[:-1]), what=fields[-1])
            )
        elif word in ("type", "error", "enum", "struct", "bits", "number"):
            here.facts.append(
                Fact(word=word, name=name, fields=tuple(fields[:-1]), what=fields[-1])
            )
        else:
            raise ValueError(f"surface.txt: not of the grammar: {line}")
    return version, interfaces


def prototype(function: Function) -> str:
    """Return the declaration of *function* with its comment, in lines of at most WIDTH columns."""
    result = "KAL_NORETURN void" if function.result == "noreturn" else function.result
    line = f"{result} {function.name}("
    indent = " " * len(line)
    out = ""
    for param in function.params or ("void",):
        if len(line) + len(param) + 3 > WIDTH:
            out += line.rstrip() + "\n"
            line = indent
        line += f"{param}, "
    return f"/* {function.what} */\n{out}{line.removesuffix(', ')});\n"


def structure(fact: Fact) -> str:
    """Return the definition of a structure, and the assertions that hold its layout."""
    out = f"/* {fact.what} */\nstruct {fact.name} {{\n"
    checks = (
        f'KAL_STATIC_ASSERT(sizeof(struct {fact.name}) == {fact.fields[0]}, "{fact.name}: size");\n'
    )
    for member in fact.members:
        offset, ctype = member.fields
        base, bracket, count = ctype.partition("[")
        out += f"    {base} {member.name}{bracket}{count}; /* {member.what} */\n"
        checks += (
            f"KAL_STATIC_ASSERT(__builtin_offsetof(struct {fact.name}, {member.name}) == {offset}, "
            f'"{fact.name}.{member.name}: offset");\n'
        )
    return out + "};\n" + checks + "\n"


def definitions(interface: Interface) -> str:
    """Return the types, constants and structures of *interface*, in the file's order."""
    out = ""
    for fact in interface.facts:
        if fact.word == "type":
            out += f"typedef {fact.fields[0]} {fact.name}; /* {fact.what} */\n"
        elif fact.word == "bits":
            out += f"#define {fact.name} ((kal_uintptr){fact.fields[0]}) /* {fact.what} */\n"
        elif fact.word == "number":
            out += f"#define {fact.name} {fact.fields[0]} /* {fact.what} */\n"
        elif fact.word == "struct":
            out += structure(fact)
        elif fact.word == "enum":
            names = fact.fields[0].replace("=", " = ").replace(", ", ",\n    ")
            out += f"/* {fact.what} */\nenum {fact.name} {{\n    {names}\n}};\n\n"
    return out


def errors(interface: Interface) -> str:
    """Return the enumeration of the errors."""
    lines = [
        f"    {fact.name} = {fact.fields[0]}, /* {fact.what} */\n"
        for fact in interface.facts
        if fact.word == "error"
    ]
    return (
        "\n/* What went wrong; there are no other errors. */\nenum kal_error {\n"
        + "".join(lines)
        + "};\n"
    )


def cplusplus(line: str) -> str:
    """Return *line* for C++ alone."""
    return f"#ifdef __cplusplus\n{line}\n#endif"


def header(name: str, what: str, includes: Iterable[str], body: str, declared: str = "") -> str:
    """Return one header; *declared* is what has C linkage."""
    guard = f"OPENKAL_{name.upper()}_H"
    if declared:
        begin, end = 'extern "C" {', "}"
        declared = f"{cplusplus(begin)}\n\n{declared}\n{cplusplus(end)}"
    parts = [
        f"/* {what} Made from okld/iface/surface.txt. */\n#ifndef {guard}\n#define {guard}",
        "\n".join(f'#include "{include}.h"' for include in includes),
        body.strip(),
        declared,
        "#endif\n",
    ]
    return "\n\n".join(part for part in parts if part)


def needed(interface: Interface, home: dict[str, str]) -> list[str]:
    """Return the headers whose structures *interface* names; *home* has each structure's."""
    text = " ".join(f"{f.result} {f.declared}" for f in interface.functions)
    text += " ".join(member.fields[1] for fact in interface.facts for member in fact.members)
    names = {home[name] for name in re.findall(r"struct (\w+)", text)}
    return ["types", *sorted(names - {interface.short})]


TYPES_PREAMBLE = """\
#ifdef __cplusplus
#define KAL_STATIC_ASSERT(fact, text) static_assert(fact, text)
#else
#define KAL_STATIC_ASSERT(fact, text) _Static_assert(fact, text)
#endif

#define KAL_NORETURN __attribute__((noreturn))

"""


def headers(version: str, interfaces: list[Interface]) -> dict[str, str]:
    """Return the text of every header by file name."""
    none, *named = interfaces
    home = {f.name: i.short for i in named for f in i.facts if f.word == "struct"}
    bits = "".join(
        f"#define KAL_IFACE_{i.short.upper()} ((kal_u64)1 << {i.position}) /* {i.what} */\n"
        for i in named
    )
    numbers = f"""\
#define KAL_VERSION_MAKE(major, minor, patch) \\
    ((kal_u64)(major) << 32 | (kal_u64)(minor) << 16 | (kal_u64)(patch))
#define KAL_VERSION KAL_VERSION_MAKE({version.replace(".", ", ")}) /* that these headers state */

/* The bits of an interface word. */
"""
    out = {
        "types.h": header(
            "types",
            "The types and errors of openkal.",
            [],
            TYPES_PREAMBLE + definitions(none) + errors(none),
        ),
        "version.h": header(
            "version",
            "The version, and which interfaces are answered.",
            ["types"],
            numbers + bits,
            "\n".join(map(prototype, none.functions)),
        ),
        "openkal.h": header(
            "openkal",
            "The whole openkal surface.",
            ["types", "version", *(i.short for i in named)],
            "",
        ),
    }
    for i in named:
        declared = "\n".join(map(prototype, i.functions))
        what = f"{i.name}: {i.what}"
        out[f"{i.short}.h"] = header(i.short, what, needed(i, home), definitions(i), declared)
    return out


def macro(name: str, entries: Iterable[str]) -> str:
    """Return an X-macro of one parameter F."""
    return " \\\n    ".join([f"#define {name}(F)", *entries]) + "\n\n"


def host_list(interfaces: list[Interface], hosted: set[str]) -> str:
    """
    Return the C header that a host which answers *hosted* is built with.

    Raises:
        ValueError: If a name of *hosted* is no interface.
    """
    if unknown := hosted - {i.name for i in interfaces}:
        raise ValueError(f"no such interface: {', '.join(sorted(unknown))}")
    every = [f for i in interfaces for f in i.functions]
    here = [f for i in interfaces if i.name in hosted | RUNNERS | {""} for f in i.functions]
    word = sum(1 << i.position for i in interfaces if i.name in hosted - RUNNERS)

    def entry(f: Function) -> str:
        return f"{f.name}, ({f.declared}), ({f.arguments}), {f.position})"

    return (
        "/* The surface as lists. Made from okld/iface/surface.txt.\n"
        " * F of KAL_SURFACE takes (name, interface position or -1); F of the others takes\n"
        " * ([result,] name, (parameters), (arguments), interface position or -1). */\n"
        "#ifndef KAL_SURFACE_LIST_H\n#define KAL_SURFACE_LIST_H\n\n"
        + macro("KAL_SURFACE", (f"F({f.name}, {f.position})" for f in every))
        + macro(
            "KAL_HOSTED_VALUE",
            (f"F({f.result}, {entry(f)}" for f in here if f.result not in ("void", "noreturn")),
        )
        + macro("KAL_HOSTED_VOID", (f"F({entry(f)}" for f in here if f.result == "void"))
        + macro("KAL_HOSTED_NORETURN", (f"F({entry(f)}" for f in here if f.result == "noreturn"))
        + "#define KAL_INTERFACE_NAMES "
        + ", ".join(f'"{i.name}"' for i in interfaces[1:])
        + f"\n#define KAL_INTERFACE_COUNT {len(interfaces) - 1}\n"
        + f"#define KAL_HOSTED_WORD UINT64_C({word:#x}) /* the runner's interfaces aside */\n"
        + f"#define KAL_FUNCTION_COUNT {len(every)}\n\nenum {{\n"
        + ",\n".join(f"    KAL_INDEX_{f.name} = {index}" for index, f in enumerate(every))
        + "\n};\n\n#endif\n"
    )


def spec_table(interfaces: list[Interface]) -> str:
    """Return the table of SPEC chapter 4: an interface a row, then the two functions of none."""
    rows = ["| position | interface | functions |", "| --- | --- | --- |"]
    for i in [*interfaces[1:], interfaces[0]]:
        place, name = (str(i.position), f"`{i.name}`") if i.name else ("", "none")
        rows.append(f"| {place} | {name} | {', '.join(f'`{f.name}`' for f in i.functions)} |")
    return "\n".join(rows) + "\n"


def main(arguments: list[str]) -> int:
    """Write what the options ask for."""
    parser = argparse.ArgumentParser(description="Make headers and lists from surface.txt.")
    parser.add_argument("--headers", type=Path, metavar="DIR")
    parser.add_argument("--list", type=Path, metavar="FILE")
    parser.add_argument("--hosted", metavar="NAME,...", help="not all interfaces, but these")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args(arguments)
    version, interfaces = read_surface()
    if options.headers:
        options.headers.mkdir(parents=True, exist_ok=True)
        for name, text in headers(version, interfaces).items():
            (options.headers / name).write_text(text, encoding="ascii")
    if options.list:
        hosted = {i.name for i in interfaces[1:]}
        if options.hosted is not None:
            hosted = {f"openkal.{name}" for name in options.hosted.split(",") if name}
        options.list.write_text(host_list(interfaces, hosted), encoding="ascii")
    if options.table:
        sys.stdout.write(spec_table(interfaces))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
