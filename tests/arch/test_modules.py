"""What a start, or a name, imports is a fixed list: each module costs about 70 us before it."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from okld.bundle.writer import write_bundle

ROOT = Path(__file__).parents[2]
IMAGE = ROOT / "testdata/images/hello.x86_64.ok"
OKRUN = Path(sys.executable).parent / "okrun"
OKLD = Path(sys.executable).parent / "okld"

WARM = [
    "_okrun",
    "gc",
    "okld",
    "okld.base",
    "okld.base.errors",
    "okld.base.identity",
    "okld.base.installed",
    "okld.base.limits",
    "okld.base.place",
    "okld.base.private",
    "okld.base.view",
    "okld.bundle",
    "okld.bundle.trust_file",
    "okld.elf",
    "okld.elf.header",
    "okld.elf.tables",
    "okld.iface",
    "okld.iface.need",
    "okld.iface.note",
    "okld.iface.table",
    "okld.image",
    "okld.image.dynamic",
    "okld.image.relocs",
    "okld.image.segments",
    "okld.image.shape",
    "okld.image.symbols",
    "okrun",
    "okrun.admission",
    "okrun.admission.cache",
    "okrun.admission.decide",
    "okrun.admission.identity",
    "okrun.admission.place",
    "okrun.admission.policy",
    "okrun.admission.record",
    "okrun.bundled",
    "okrun.cli",
    "okrun.cli.okrun",
    "okrun.hosts",
    "okrun.inherited",
    "okrun.launch",
    "okrun.measuring",
    "okrun.plan",
    "okrun.plan.codec",
    "okrun.plan.make",
]
"""With what a bare Python has imported, all that a start imports; one file holds the most of it."""

ASKED = [
    "_bisect",
    "_okld",
    "_struct",
    "errno",
    "gc",
    "itertools",
    "okld",
    "okld.base",
    "okld.base.errors",
    "okld.base.identity",
    "okld.base.limits",
    "okld.base.place",
    "okld.base.private",
    "okld.base.units",
    "okld.base.view",
    "okld.cli",
    "okld.cli.address",
    "okld.cli.answers",
    "okld.cli.complain",
    "okld.cli.main",
    "okld.cli.quick",
    "okld.cli.render_answer",
    "okld.cli.symbolize",
    "okld.image",
    "okld.image.open",
    "okld.syms",
    "okld.syms.address_space",
    "okld.syms.answer",
    "okld.syms.index",
    "okld.syms.index.blocks",
    "okld.syms.index.format",
    "okld.syms.index.head",
    "okld.syms.index.layer",
    "okld.syms.index.pack",
    "okld.syms.index.reader",
    "okld.syms.joined",
    "okld.syms.options",
    "okld.syms.sources",
    "okld.syms.symbolizer",
]
"""All that a name from an index imports; one file holds the most of it."""

MEMBER = ["__future__", "okld.bundle.naming"]
"""What the form BUNDLE:MEMBER needs besides."""

OBSERVED = """
import os, sys

bare = set(sys.modules)

def tell(event, args):
    if event == "os.exec":
        os.write(1, "\\n".join(set(sys.modules) - bare).encode())
        os._exit(0)

sys.addaudithook(tell)
del sys.argv[0]
exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"))
"""


AT_THE_END = """
import posix, sys

bare = set(sys.modules)

def tell(status):
    posix.write(2, "\\n".join(set(sys.modules) - bare).encode())
    raise SystemExit(status)

posix._exit = tell
del sys.argv[0]
exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"))
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with a bundle in it whose admission is remembered."""
    home = tmp_path_factory.mktemp("home")
    bundle = home / "hello.okb"
    write_bundle([str(IMAGE)], str(bundle), name="hello")
    while time.time_ns() - bundle.stat().st_ctime_ns < 2.1e9:
        time.sleep(0.05)
    for word in (bundle, f"{bundle}:x86_64"):
        subprocess.run([OKRUN, word], check=True, env=environment(home), stdout=subprocess.DEVNULL)
    assert len(list(home.glob(".cache/okrun/admitted/*"))) == 2
    return home


def environment(home):
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8"}


@pytest.mark.spec("CLI-3")
@pytest.mark.parametrize(
    ("word", "more"),
    [
        pytest.param("", [], id="an image"),
        pytest.param("hello.okb", [], id="a bundle"),
        pytest.param("hello.okb:x86_64", MEMBER, id="a member by its name"),
    ],
)
def test_a_start_imports_this_and_no_more(home, word, more):
    """At the moment of the execve the modules are those of the list."""
    image = home / word if word else IMAGE
    words = [sys.executable, "-P", "-c", OBSERVED, OKRUN, image]
    got = subprocess.check_output(words, text=True, env=environment(home)).split()
    assert set(got) == {*WARM, *more}


@pytest.mark.spec("CLI-3", "ADR-12")
@pytest.mark.parametrize("options", [[], ["--no-lines"], ["--json", "-i"]], ids=" ".join)
def test_a_name_from_an_index_imports_this_and_no_more(tmp_path, options):
    """Whatever is asked of it; what is stored compressed needs zlib."""
    image = tmp_path / "crash.ok"
    env = environment(tmp_path)
    subprocess.run([OKLD, "build", "-g", ROOT / "examples/crash.c", "-o", image], check=True)
    while time.time_ns() - image.stat().st_ctime_ns < 2.1e9:
        time.sleep(0.05)
    subprocess.run([OKLD, "symbols", "--index", image], check=True, env=env)
    symbols = subprocess.check_output(["nm", image], text=True).split()
    words = [sys.executable, "-P", "-c", AT_THE_END, OKLD, "symbolize", *options, image]
    ran = subprocess.run(
        [*words, symbols[symbols.index("main") - 2]],
        check=True,
        capture_output=True,
        text=True,
        env=env,
    )
    assert set(ran.stderr.split()) - {"zlib"} == set(ASKED)
    assert "main" in ran.stdout
    assert "--no-lines" in options or "crash.c" in ran.stdout


SINGLY = """
import posix, sys

def tell(status):
    found = [(name, module) for name, module in sys.modules.items() if name.startswith("okld.")]
    singly = [name for name, module in found if module.__spec__ and module.__spec__.origin]
    posix.write(2, "\\n".join([*singly, "of", str(len(found))]).encode())
    raise SystemExit(status)

posix._exit = tell
del sys.argv[0]
exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"))
"""


@pytest.mark.spec("CLI-3", "ADR-12")
def test_a_first_answer_imports_no_module_by_itself(tmp_path):
    """What a line takes where there is no index is joined as well, and no index is thought of."""
    image = tmp_path / "crash.ok"
    subprocess.run([OKLD, "build", "-g", ROOT / "examples/crash.c", "-o", image], check=True)
    symbols = subprocess.check_output(["nm", image], text=True).split()
    words = [sys.executable, "-P", "-c", SINGLY, OKLD, "symbolize", "-i", image]
    ran = subprocess.run(
        [*words, symbols[symbols.index("main") - 2]],
        check=True,
        capture_output=True,
        text=True,
        env=environment(tmp_path),
    )
    singly, _, count = ran.stderr.partition("of\n")
    assert singly.split() == []
    assert int(count) > len(ASKED)
    assert "crash.c" in ran.stdout


@pytest.mark.spec("SURF-1", "CLI-3")
def test_what_the_build_worked_out():
    """The surface that the joined file states is the one that the package reads."""
    tell = "from okld.iface.table import FUNCTIONS as f, INTERFACES as i, interface_of as o; "
    tell += "print(i, [(each, o(each)) for each in f])"
    got = [
        subprocess.check_output([sys.executable, "-P", "-c", first + tell])
        for first in ("import _okrun; ", "")
    ]
    assert got[0] == got[1]
    assert b"kal_stream_write" in got[0]


@pytest.mark.spec("CLI-3", "CAC-9", "CAC-11")
def test_a_start_opens_this_and_no_more(home, tmp_path):
    """
    From its script on a warm start of a bundle opens these files once each, for reading, and makes,
    moves and removes none.
    """
    trace = tmp_path / "trace"
    words = ["strace", "-f", "-o", trace, "-e", "trace=%file", "-s", "4096", OKRUN, "hello.okb"]
    subprocess.run(words, check=True, env=environment(home), cwd=home, stdout=subprocess.DEVNULL)
    text = trace.read_text()
    calls = text[text.rindex(f'"{OKRUN}", O_RDONLY') :].splitlines()[1:]
    assert not re.search(r"\b(mkdir|rename|unlink|link|creat|chmod|utime|truncate)", str(calls))
    found = [re.search(r'open\S*\((?:[^"]*)"(.*?)", (\S*O_[^, )]*)', line) for line in calls]
    opened = [match.groups() for match in found if match]
    assert all(flags.startswith("O_RDONLY") for _, flags in opened)
    names = [re.sub(r".*/__pycache__/_okrun\..*", "_okrun", name) for name, _ in opened]
    if names[0].endswith(
        "-packages"
    ):  # where Python looked into it at its start, it does not again
        names.pop(0)
    records = [path.name for path in home.glob(".cache/okrun/admitted/*")]
    assert names[-1] in records
    assert names[:-1] == [
        "_okrun",
        str(OKRUN.with_name("okhost")),
        "/proc/self/auxv",
        f"{home}/.config/okrun/policy",
        "hello.okb",
        f"{home}/.config/okrun/allowed_signers",
        f"{home}/.cache/okrun/admitted",
    ]
