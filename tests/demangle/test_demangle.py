"""`okld.syms.demangle`: names whose meaning their grammar, or the source they come from, fixes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from okld.syms.demangle import demangle, is_mangled

CXX = {
    "_Z3fooi": "foo(int)",
    "_ZN2ns1T1fEi": "ns::T::f(int)",
    "_ZNKSt6vectorIiSaIiEE4sizeEv": "std::vector<int, std::allocator<int>>::size() const",
    "_Z3maxIiET_S0_S0_": "int max<int>(int, int)",
    "_ZN1AC2Ev": "A::A()",
    "_ZN1AD0Ev": "A::~A()",
    "_ZTV1A": "vtable for A",
    "_ZThn8_N1A1fEv": "non-virtual thunk to A::f()",
    "_ZZ4mainENKUlvE_clEv": "main::'lambda'()::operator()() const",
    "_ZN12_GLOBAL__N_11fEv": "(anonymous namespace)::f()",
    "_ZplRK1AS1_": "operator+(A const&, A const&)",
    "__Z3fooi": "foo(int)",
    "___Z3foov_block_invoke": "invocation function for block in foo()",
}

RUST = {
    "_RNvC6_123foo3bar": "123foo::bar",
    "_RINvNtC3std3mem8align_ofjE": "std::mem::align_of::<usize>",
    "_RNvMC4demoNtB2_5Stack4push": "<demo::Stack>::push",
    "_RNCNvC4demo4main0": "demo::main::{closure#0}",
    "__RNvC6_123foo3bar": "123foo::bar",
}

HASH = "17h0123456789abcdefE"
LEGACY = {
    f"_ZN4core3fmt9Formatter3pad{HASH}": "core::fmt::Formatter::pad",
    f"__ZN4core3fmt9Formatter3pad{HASH}": "core::fmt::Formatter::pad",
    f"_ZN3foo14$LT$T$GT$..bar3baz{HASH}": "foo::<T>::bar::baz",
    f"_ZN30_$LT$$RF$T$u20$as$u20$a..B$GT$3run{HASH}": "<&T as a::B>::run",
    f"_ZN3foo28_$u7b$$u7b$closure$u7d$$u7d${HASH}": "foo::{{closure}}",
    f"_ZN3foo12$LP$$C$A$RP${HASH}": "foo::(,A)",
    f"_ZN3foo8$SP$$BP${HASH}": "foo::@*",
    f"_ZN3foo10a$XX$b$LT${HASH}": "foo::a$XX$b$LT$",
    f"_ZN3foo4a$LT{HASH}": "foo::a$LT",
    f"_ZN3foo7$u1b$..{HASH}": "foo::$u1b$..",
}

CLONES = {
    "_Z3foov.cold": "foo() [clone .cold]",
    "_Z3foov.part.0": "foo() [clone .part.0]",
    "_Z3foov.constprop.0.isra.0": "foo() [clone .constprop.0] [clone .isra.0]",
    "_Z3foov.llvm.123": "foo() [clone .llvm.123]",
    "_Z3foov.lto_priv.0.cold": "foo() [clone .lto_priv.0] [clone .cold]",
    "_ZTV1A.llvm.7": "vtable for A [clone .llvm.7]",
    "_ZZ3foovE3bar.0": "foo()::bar [clone .0]",
    "_RNvC6_123foo3bar.llvm.123": "123foo::bar [clone .llvm.123]",
    f"_ZN3foo3bar{HASH}.llvm.123": "foo::bar [clone .llvm.123]",
    "_Z3foov@plt": "foo()@plt",
    "_Z3foov.cold@@V2": "foo() [clone .cold]@@V2",
}

PLAIN = (
    "",
    "main",
    "main.cold",
    "_Zfoo",
    "_Z",
    "_R",
    "_Read",
    "_Z3fooi\0",
    "_Z2\udcff",
    "_Z1\N{LATIN SMALL LETTER E WITH ACUTE}v",
    "_Z3fooi\nmain",
    "_ZGTtNKSt9exception4whatEv",
    "?f@@YAXH@Z",
)


@pytest.mark.spec("DEM-1")
@pytest.mark.parametrize(("name", "want"), CXX.items())
def test_cxx(name, want):
    """C++ is shown with its parameters, as the grammar of the ABI reads it."""
    assert demangle(name) == want


@pytest.mark.spec("DEM-2")
@pytest.mark.parametrize(("name", "want"), RUST.items())
def test_rust(name, want):
    """Rust's second scheme is a path, as RFC 2603 reads it."""
    assert demangle(name) == want


@pytest.mark.spec("DEM-3")
@pytest.mark.parametrize(("name", "want"), LEGACY.items())
def test_legacy_rust(name, want):
    """Rust's first scheme is a path without its hash; what is no escape stays."""
    assert demangle(name) == want


@pytest.mark.spec("DEM-3")
@pytest.mark.parametrize(
    "end", ["17h0123456789abcdeFE", "17g0123456789abcdefE", "16h0123456789abcdeE"]
)
def test_no_hash_is_cxx(end):
    """A last part that is no hash is a part of a C++ name."""
    assert demangle(f"_ZN3foo{end}") == f"foo::{end[2:-1]}"


@pytest.mark.spec("DEM-4")
@pytest.mark.parametrize(("name", "want"), CLONES.items())
def test_clones(name, want):
    """What comes behind a name is kept behind what it stands for."""
    assert demangle(name) == want


@pytest.mark.spec("DEM-6")
@pytest.mark.parametrize("name", PLAIN)
def test_what_is_none_stays(name):
    """What stands for nothing is shown as it is."""
    assert demangle(name) == name


@pytest.mark.spec("DEM-7")
@pytest.mark.parametrize(("name", "is_loaded"), [("main", False), ("_Z3fooi", True)])
def test_only_when_it_is_needed(name, is_loaded):
    """The demangler is imported for a mangled name, and for no other."""
    code = f"""if True:
        import sys
        from okld.syms.demangle import demangle, is_mangled
        is_mangled("_Z3fooi")
        demangle({name!r})
        print("pycxxfilt" in sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == f"{is_loaded}\n"


@pytest.mark.spec("DEM-7")
def test_is_mangled():
    """A name is told by how it begins."""
    names = [*CXX, *RUST, *LEGACY]
    assert all(map(is_mangled, names))
    assert not any(map(is_mangled, ["main", "_start", "Z3foo", "_z", "?f@@YAXH@Z", "_"]))
