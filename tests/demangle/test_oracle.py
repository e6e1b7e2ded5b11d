"""Every name of some libraries, as other demanglers write them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from okld.syms.demangle import demangle

LIBRARIES = "/usr/lib/x86_64-linux-gnu"
SUFFIX = re.compile(r" \((\.[^() ]*)\)$")

RUST = """
pub struct Stack<T> { items: Vec<T> }
impl<T: Clone> Stack<T> {
    #[inline(never)] pub fn push(&mut self, item: T) { self.items.push(item) }
}
pub trait Area { fn area(&self) -> u64; }
impl Area for [u8; 3] { #[inline(never)] fn area(&self) -> u64 { 3 } }
#[inline(never)] pub fn apply<F: Fn(i32) -> i32>(f: F) -> i32 { f(1) }
#[no_mangle] pub fn run(s: &mut Stack<(u8, char)>) -> u64 {
    s.push((1, 'x'));
    apply(|x| x + 1) as u64 + [1u8, 2, 3].area()
}
"""


def names_of(path: Path | str, *words: str) -> list[str]:
    command = ["llvm-nm-19", "--no-demangle", "--format=just-symbols", *words, str(path)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    return sorted({line.partition("@")[0] for line in lines} - {""})


def filtered(names: list[str], *command: str) -> list[str]:
    text = "\n".join(names) + "\n"
    done = subprocess.run(command, input=text, check=True, capture_output=True, text=True)
    return done.stdout.split("\n")[:-1]


def with_clones(text: str) -> str:
    """Return what LLVM writes as "f() (.isra.0.cold)" as DEM-4 wants it."""
    found = SUFFIX.search(text)
    if not found:
        return text
    parts = re.findall(r"\.[a-z_]+(?:\.\d+)*|\.\d+", found[1])
    return text[: found.start()] + "".join(f" [clone {part}]" for part in parts)


@pytest.mark.spec("DEM-1")
@pytest.mark.parametrize("library", ["libstdc++.so.6", "libLLVM-19.so"])
def test_as_llvm_does(library):
    """Every name that a C++ library exports is what LLVM makes of it."""
    names = names_of(f"{LIBRARIES}/{library}", "-D", "--defined-only")
    assert len(names) > 5000
    wanted = filtered(names, "llvm-cxxfilt-19")
    assert [(name, demangle(name)) for name in names] == list(zip(names, wanted, strict=True))


@pytest.mark.spec("DEM-4")
def test_clones_as_binutils_writes_them():
    """Suffixes of clones are those of `c++filt`."""
    suffixes = (
        ".cold",
        ".part.0",
        ".isra.0.cold",
        ".constprop.0.isra.0",
        ".lto_priv.12",
        ".llvm.7",
    )
    names = [f"_ZN1a1bEi{suffix}" for suffix in suffixes]
    assert [*map(demangle, names)] == filtered(names, "c++filt")


@pytest.fixture(scope="module", params=["legacy", "v0"])
def rust_names(request, tmp_path_factory):
    """Names of a Rust library in one of the two schemes."""
    here = tmp_path_factory.mktemp(request.param)
    (here / "demo.rs").write_text(RUST)
    scheme = ["-Zunstable-options", f"-Csymbol-mangling-version={request.param}"]
    command = ["rustc", *scheme, "--crate-type=lib", "--emit=obj", "-o", "demo.o", "demo.rs"]
    environment = os.environ | {"RUSTC_BOOTSTRAP": "1"}
    subprocess.run(command, cwd=here, env=environment, check=True, capture_output=True)
    return request.param, [n for n in names_of(here / "demo.o") if n.startswith(("_Z", "_R"))]


@pytest.mark.spec("DEM-2", "DEM-3")
def test_rust_names_are_those_of_the_source(rust_names):
    """What a compiler makes of a source is shown as the source has it, in both schemes."""
    scheme, names = rust_names
    shown = {demangle(name) for name in names}
    stack = "demo::Stack<T>" if scheme == "legacy" else "<demo::Stack<(u8, char)>>"
    assert f"{stack}::push" in shown
    apply = "demo::apply" if scheme == "legacy" else "demo::apply::<demo::run::{closure#0}>"
    assert apply in shown
    closure = "demo::run::{{closure}}" if scheme == "legacy" else "demo::run::{closure#0}"
    assert closure in shown
    assert "<[u8; 3] as demo::Area>::area" in shown


@pytest.mark.spec("DEM-2")
def test_rust_as_llvm_does(rust_names):
    """Names of the second scheme are what LLVM makes of them."""
    names = [name for name in rust_names[1] if name.startswith("_R")]
    wanted = map(with_clones, filtered(names, "llvm-cxxfilt-19") if names else [])
    assert [*map(demangle, names)] == [*wanted]
