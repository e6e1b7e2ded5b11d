"""Logs of real shapes: each line gets the names that nm and the source say, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent / "fixtures"
FORMATS = [
    pytest.param("okrun", marks=pytest.mark.spec("LOG-5")),
    pytest.param("okrun-inlines", marks=pytest.mark.spec("LOG-5", "LOG-2")),
    pytest.param("asan", marks=pytest.mark.spec("LOG-6")),
    pytest.param("asan-inlines", marks=pytest.mark.spec("LOG-6", "LOG-2")),
    pytest.param("asan-fixed", marks=pytest.mark.spec("LOG-6")),
    pytest.param("asan-other-build", marks=pytest.mark.spec("LOG-17")),
    pytest.param("tsan", marks=pytest.mark.spec("LOG-6")),
    pytest.param("ubsan", marks=pytest.mark.spec("LOG-6")),
    pytest.param("glibc", marks=pytest.mark.spec("LOG-7", "LOG-3")),
    pytest.param("glibc-fixed", marks=pytest.mark.spec("LOG-7")),
    pytest.param("go", marks=pytest.mark.spec("LOG-8")),
    pytest.param("rust", marks=pytest.mark.spec("LOG-9", "LOG-3", "LOG-4")),
    pytest.param("gdb", marks=pytest.mark.spec("LOG-10", "LOG-3", "LOG-4")),
    pytest.param("gdb-fixed", marks=pytest.mark.spec("LOG-10")),
    pytest.param("perf", marks=pytest.mark.spec("LOG-11", "LOG-3", "LOG-4")),
    pytest.param("perf-offsets", marks=pytest.mark.spec("LOG-11")),
    pytest.param("kernel", marks=pytest.mark.spec("LOG-12", "LOG-3")),
    pytest.param("kernel-inlines", marks=pytest.mark.spec("LOG-12", "LOG-2")),
    pytest.param("kernel-arm64", marks=pytest.mark.spec("LOG-12")),
    pytest.param("kernel-raw", marks=pytest.mark.spec("LOG-12")),
    pytest.param("kernel-no-offset", marks=pytest.mark.spec("LOG-12")),
    pytest.param("android", marks=pytest.mark.spec("LOG-13")),
    pytest.param("plain", marks=pytest.mark.spec("LOG-14")),
    pytest.param("coredump", marks=pytest.mark.spec("LOG-14")),
    pytest.param("apple", marks=pytest.mark.spec("LOG-15", "LOG-3")),
    pytest.param("apple-json", marks=pytest.mark.spec("LOG-16")),
]


def given(name, files):
    """Name the programs that a log has no path of."""
    main = "fixed" if name == "go" else "prog"
    paths = files.paths
    named = [("prog", paths["prog"]), ("libbased.so", paths["based"])]
    return [("", str(paths[main]))] * (name == "go") + [(key, str(path)) for key, path in named]


@pytest.mark.parametrize("name", FORMATS)
def test_a_log(files, name):
    """The log becomes what the fixture says: names by nm, lines by the source."""
    log = files.fill((FIXTURES / f"{name}.in").read_bytes())
    want = files.fill((FIXTURES / f"{name}.out").read_bytes())
    options = {"inlines": name.endswith("-inlines"), "given": given(name, files)}
    assert files.rewrite(log, **options).decode().splitlines() == want.decode().splitlines()


@pytest.mark.spec("LOG-2")
@pytest.mark.parametrize("name", [str(param.values[0]) for param in FORMATS])
def test_what_is_named_is_left_alone(files, name):
    """A log that was rewritten passes as it is."""
    want = files.fill((FIXTURES / f"{name}.out").read_bytes())
    assert (
        files.rewrite(want, given=given(name, files)).decode().splitlines()
        == want.decode().splitlines()
    )


@pytest.mark.spec("LOG-1")
@pytest.mark.parametrize("name", [str(param.values[0]) for param in FORMATS])
def test_ends_of_lines(files, name):
    """Lines that end with a carriage return keep it, inlined functions' lines have it too."""
    crlf = {"inlines": name.endswith("-inlines"), "given": given(name, files)}
    log = files.fill((FIXTURES / f"{name}.in").read_bytes()).replace(b"\n", b"\r\n")
    want = files.fill((FIXTURES / f"{name}.out").read_bytes()).replace(b"\n", b"\r\n")
    assert files.rewrite(log, **crlf) == want
