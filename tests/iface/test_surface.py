"""Every statement of the surface is the public contract: tables, headers, lists, SPEC."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from okld.iface.table import (
    FUNCTIONS,
    INTERFACES,
    VERSION,
    interface_of,
    interfaces_in,
    position_of,
    version_text,
)

ROOT = Path(__file__).parents[2]
HEADERS = ROOT / "okld/sdk/include/openkal"
GENERATE = ROOT / "okld/iface/generate.py"


def compiled(text: str, directory: Path) -> str:
    """Return *text* as the C preprocessor leaves it."""
    command = ["gcc", "-E", "-P", "-I", directory, "-x", "c", "-"]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def host_list(tmp_path):
    """Return a call that expands an X-macro of the list for a host of some interfaces."""

    def host_list(hosted: str | None, macro: str) -> str:
        command = [sys.executable, GENERATE, "--list", tmp_path / "list.h"]
        subprocess.run(command + ([] if hosted is None else ["--hosted", hosted]), check=True)
        return compiled(f'#include "list.h"\n{macro}\n', tmp_path)

    return host_list


@pytest.mark.spec("SURF-1", "SURF-2")
def test_table_is_the_contract(contract):
    """Names, their order, their interfaces and positions are the contract's."""
    none, *named = contract.items()
    assert tuple(name for name, _ in named) == INTERFACES
    assert tuple(name for _, functions in (none, *named) for name in functions) == FUNCTIONS
    assert {name: interface_of(name) for name in FUNCTIONS} == {
        name: interface or None for interface, names in contract.items() for name in names
    }
    assert [position_of(name) for name in INTERFACES] == list(range(19))


@pytest.mark.spec("SURF-2")
@pytest.mark.parametrize("name", ["printf", "kal_", "kal_abort ", "openkal.abort", ""])
def test_no_other_name_has_an_interface(name):
    """A name that is not on the surface is an error, not a name of no interface."""
    with pytest.raises(KeyError):
        interface_of(name)


@pytest.mark.spec("SURF-2")
def test_positions_outside_the_surface_are_no_interface():
    """There is no position for a name that is no interface, and no interface at position 19."""
    with pytest.raises(KeyError):
        position_of("openkal.printf")
    assert interfaces_in(1 << 19 | 1 << 63 | 1 << 6 | 1 << 0) == ("openkal.abort", "openkal.fs")


@pytest.mark.spec("SURF-4")
def test_version_is_0_20_0():
    """0.20.0 is 0x140000, and is shown as people write it."""
    assert VERSION == 0x140000
    assert version_text(VERSION) == "0.20.0"
    assert version_text(1 << 32 | 22 << 16 | 333) == "1.22.333"


@pytest.mark.spec("SURF-1")
def test_spec_has_the_table(contract):
    """SPEC chapter 4 lists the contract, an interface a row."""
    text = (ROOT / "SPEC.md").read_text()
    table = text.split("<!-- surface:begin -->")[1].split("<!-- surface:end -->")[0]
    rows = [row.split("|")[1:-1] for row in table.strip().split("\n")[2:]]
    listed = {
        name.strip(" `"): (position.strip(), tuple(re.findall(r"\w+", functions)))
        for position, name, functions in rows
    }
    none, *named = contract.items()
    want = {name: (str(position), names) for position, (name, names) in enumerate(named)}
    assert listed == want | {"none": ("", none[1])}


@pytest.mark.spec("SURF-1")
def test_headers_are_made_from_the_statement(tmp_path):
    """The headers that are shipped are those that surface.txt makes, and image.h."""
    subprocess.run([sys.executable, GENERATE, "--headers", tmp_path], check=True)
    made = {path.name: path.read_text() for path in tmp_path.iterdir()}
    shipped = {path.name: path.read_text() for path in HEADERS.iterdir()}
    shipped.pop("image.h")
    assert made == shipped


@pytest.mark.spec("SURF-1")
def test_each_header_declares_its_interface(contract):
    """The header of an interface declares its functions and no others."""
    for interface, functions in contract.items():
        header = HEADERS / f"{interface.removeprefix('openkal.') or 'version'}.h"
        assert tuple(re.findall(r"\b(kal_\w+)\([^*]", header.read_text())) == functions, header


@pytest.mark.spec("SURF-1")
def test_list_has_every_function_with_its_position(contract, host_list):
    """KAL_SURFACE names every function with its interface's position, -1 for those of none."""
    text = host_list("abort", "#define F(name, position) name=position;\nKAL_SURFACE(F)")
    listed = re.findall(r"(kal_\w+)=(-?\d+);", text)
    assert listed == [
        (name, str(position - 1))
        for position, functions in enumerate(contract.values())
        for name in functions
    ]


@pytest.mark.spec("SURF-1")
@pytest.mark.parametrize("hosted", [None, "", "abort,stream", "memory,fs,task"])
def test_list_of_a_host_has_what_it_answers(contract, host_list, hosted):
    """
    A host's lists have, once each, the functions that it answers, the runner's, and the two; where
    nothing is said it answers all interfaces.
    """
    runners = ["openkal.prof", "openkal.debug"]
    if hosted is None:
        here = [name for name in contract if name not in ("", *runners)]
    else:
        here = [f"openkal.{name}" for name in hosted.split(",") if name]
    want = {name for i in ("", *here, *runners) for name in contract[i]}
    three = """
        #define V(result, name, parameters, arguments, position) name;
        #define N(name, parameters, arguments, position) name;
        KAL_HOSTED_VALUE(V) KAL_HOSTED_VOID(N) KAL_HOSTED_NORETURN(N) KAL_HOSTED_WORD
    """
    text = host_list(hosted, three)
    names = re.findall(r"(kal_\w+);", text)
    assert sorted(names) == sorted(want)
    word = sum(1 << list(contract).index(name) - 1 for name in here)
    assert f"UINT64_C({word:#x})" in text


@pytest.mark.spec("SURF-1")
def test_list_of_a_host_refuses_an_unknown_interface(tmp_path):
    """A misspelt interface does not make a host that silently lacks it."""
    command = [sys.executable, GENERATE, "--list", tmp_path / "list.h", "--hosted", "strem"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert "openkal.strem" in done.stderr
