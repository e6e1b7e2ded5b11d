"""Programs that ask more of compilers and linkers than one file of C does: built, and run."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

import okrun
from okld.sdk.build import build

ROOT = Path(__file__).parents[2]
COMPILERS = ["gcc", "clang", "clang -fuse-ld=lld"]
SAY = """
#include <openkal/openkal.h>
static void say(const char* text) { kal_stream_write(kal_stdout(), text, 1); }
"""
SAID = SAY + "int main(int argc, char** argv) { (void)argc; say(argv[1]); return 7; }"


def output(image, *arguments, status=0) -> str:
    ran = okrun.run(image, arguments, stdout=subprocess.PIPE, timeout=60)
    assert ran.returncode == status
    return ran.stdout.decode()


@pytest.mark.spec("SDK-6")
@pytest.mark.parametrize("cc", COMPILERS)
@pytest.mark.parametrize("suffix", ["c", "cpp"])
def test_constructors_run_by_priority(write, tmp_path, cc, suffix):
    """Those with a priority come first, the least number first; destructors the other way round."""
    order = [("", "c"), ("(65000)", "b"), ("(101)", "a")]
    functions = [
        f"__attribute__(({kind}{priority})) static void {kind[0]}{name}(void) {{ say({text}); }}"
        for priority, name in order
        for kind, text in (
            ("constructor", f'"{name}"'),
            ("destructor", f'"{name.upper()}"'),
        )
    ]
    main = 'int main(void) { say("-"); return 0; }'
    source = write(f"order.{suffix}", "\n".join([SAY, *functions, main]))
    build([source], tmp_path / "order.ok", cc=cc)
    assert output(tmp_path / "order.ok") == "abc-CBA"


@pytest.mark.spec("SDK-6")
def test_objects_of_cpp_are_made_before_main(write, tmp_path):
    """Static objects are made in the order of their definitions, and destroyed in reverse."""
    source = """
        struct Loud {
            const char* name;
            explicit Loud(const char* text) : name(text) { say(name); }
            ~Loud() { say(name + 1); }
        };
        static Loud first("aA"), second("bB");
        int main() { say("-"); }
    """
    build([write("loud.cpp", SAY + source)], tmp_path / "loud.ok", cc="gcc")
    assert output(tmp_path / "loud.ok") == "ab-BA"


@pytest.mark.spec("SDK-1", "SDK-6")
@pytest.mark.parametrize("cc", COMPILERS)
def test_calls_through_a_plt_are_relocated_once(write, tmp_path, cc):
    """An object made without our options calls through a PLT, beside initialisers."""
    source = SAY + (
        '__attribute__((constructor)) static void c(void) { say("c"); }\n'
        'int main(void) { say("m"); return 0; }'
    )
    made = tmp_path / "plt.o"
    compiler = cc.split()[0]
    words = [compiler, "-fPIC", "-fplt", "-isystem", ROOT / "okld/sdk/include"]
    subprocess.run([*words, "-c", write("plt.c", source), "-o", made], check=True)
    build([made], tmp_path / "plt.ok", cc=cc)
    assert output(tmp_path / "plt.ok") == "cm"
    rows = subprocess.run(
        ["readelf", "-rW", tmp_path / "plt.ok"], check=True, capture_output=True, text=True
    ).stdout
    places = re.findall(r"^([0-9a-f]{16})  [0-9a-f]{16} R_", rows, re.M)
    assert "JUMP_SLO" in rows
    assert len(places) == len(set(places))


@pytest.mark.spec("SDK-1", "SDK-5")
@pytest.mark.parametrize("cc", COMPILERS)
@pytest.mark.parametrize(
    "options", [["-flto"], ["-flto", "-O2"], ["-O3"], ["-mcmodel=large"]], ids=" ".join
)
def test_options_that_change_the_link_make_programs(write, tmp_path, cc, options):
    """Link-time optimisation and other code models leave a program that runs."""
    source = SAID.replace("return 7", "struct { char b[9000]; } x = {{7}}, y = x; return y.b[0]")
    build([write("said.c", source)], tmp_path / "said.ok", cc=cc, options=options)
    assert output(tmp_path / "said.ok", "x", status=7) == "x"


@pytest.mark.spec("SDK-4", "SDK-5")
@pytest.mark.parametrize("cc", COMPILERS)
def test_flags_serve_link_time_optimisation(okld, write, tmp_path, cc):
    """The flags for other build systems, with -flto, make a program that runs."""
    cflags, ldflags = (shlex.split(okld(word)) for word in ("cflags", "ldflags"))
    words = [*shlex.split(cc), "-flto", "-O2"]
    made, image = tmp_path / "said.o", tmp_path / "said.ok"
    subprocess.run([*words, *cflags, "-c", write("said.c", SAID), "-o", made], check=True)
    subprocess.run([*words, made, *ldflags, "-o", image], check=True)
    assert output(image, "x", status=7) == "x"


@pytest.mark.spec("SDK-1")
@pytest.mark.parametrize("cc", COMPILERS)
def test_the_options_are_not_for_the_sdk(write, tmp_path, cc, capfd):
    """A strict language or -Werror is for the sources that were given; nothing is said."""
    options = ["-std=c89", "-Wall", "-Wextra", "-Werror", "-Wpadded", "-Wl,--hash-style=both"]
    source = "int main(int argc, char** argv) { return argc > 1 ? **(argv + 1) : 1; }"
    build([write("strict.c", source)], tmp_path / "strict.ok", cc=cc, options=options)
    assert output(tmp_path / "strict.ok", "A", status=65) == ""
    assert capfd.readouterr() == ("", "")


@pytest.mark.spec("SDK-1")
@pytest.mark.parametrize("target", ["x86_64", "aarch64"])
def test_arithmetic_of_libgcc_is_there(write, tmp_path, target):
    """128-bit division and long double, which are calls, need no library that is not there."""
    source = write(
        "wide.c",
        """
        int main(int argc, char** argv)
        {
            volatile unsigned __int128 a = (unsigned __int128)1 << 100, b = 1000000007;
            volatile long double c = 0.5L;

            (void)argv;
            return (int)(a / b % 251) + (int)(c * c * 40) + argc;
        }
        """,
    )
    image = tmp_path / "wide.ok"
    build([source], image, target=target)
    if target == "x86_64":
        assert output(image, status=(2**100 // 1000000007 % 251 + 10 + 1) & 255) == ""


@pytest.mark.spec("SDK-1")
@pytest.mark.parametrize("cc", COMPILERS)
@pytest.mark.parametrize("align", [0x10000, 0x40000, 0x200000])
def test_large_alignments_hold_at_run_time(write, tmp_path, cc, align):
    """Read-only, written and zero data lie where their alignment says, up to IMG-13's limit."""
    source = f"""
        #define ALIGNED __attribute__((aligned({align})))
        const char a[3] ALIGNED = {{1}};
        char b[3] ALIGNED = {{1}}, c[3] ALIGNED;
        const char* volatile all[] = {{a, b, c}};
        int main(void)
        {{
            int wrong = 0;
            for (int i = 0; i < 3; i++)
                wrong += (unsigned long)all[i] % {align} != 0;
            return wrong;
        }}
    """
    build([write("align.c", source)], tmp_path / "align.ok", cc=cc)
    assert output(tmp_path / "align.ok") == ""


@pytest.mark.spec("SDK-1")
@pytest.mark.parametrize("options", [[], ["-O2"], ["-flto"]], ids=str)
def test_same_sources_give_the_same_bytes(write, tmp_path, monkeypatch, options):
    """Neither the time nor the directory is in an image."""
    made = []
    for name in ("one", "two"):
        place = tmp_path / name
        place.mkdir()
        (place / "said.c").write_text(SAID)
        monkeypatch.chdir(place)
        build(["said.c"], "said.ok", options=options)
        made.append(Path("said.ok").read_bytes())
    assert made[0] == made[1]


@pytest.mark.spec("SDK-1")
def test_debug_information_is_the_same_each_time(write, tmp_path):
    """With -g an image names its source's directory, and none that goes away."""
    source = write("said.c", SAID)
    for name in ("one.ok", "two.ok"):
        build([source], tmp_path / name, options=["-g"])
    assert (tmp_path / "one.ok").read_bytes() == (tmp_path / "two.ok").read_bytes()


@pytest.mark.spec("SDK-1")
@pytest.mark.parametrize(
    "name", ["-dash.c", "@at.c", "sp ace.c", "new\nline.c", os.fsdecode(b"\xff.c")]
)
def test_any_name_is_a_name(tmp_path, monkeypatch, name):
    """Sources and images may be called what options and lists of options are called."""
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(SAID)
    build([name], f"{name}.ok")
    assert output(f"./{name}.ok", "x", status=7) == "x"


@pytest.mark.spec("SDK-1", "SDK-3")
@pytest.mark.parametrize("cc", COMPILERS)
def test_example_in_cpp(tmp_path, cc):
    """An abstract class, an object made before main, and new and delete of openkal.memory."""
    options = ["-std=c++17", "-Wall", "-Wextra", "-Werror"]
    made = build([ROOT / "examples/shapes.cpp"], tmp_path / "shapes.ok", cc=cc, options=options)
    assert made.used["openkal.memory"] == ("kal_alloc", "kal_free")
    assert output(tmp_path / "shapes.ok") == "144\n"


@pytest.mark.spec("SDK-1", "SDK-2", "SDK-3")
def test_example_in_rust(tmp_path):
    """The commands that examples/hello.rs states make an image from an archive of many objects."""
    source = (ROOT / "examples/hello.rs").read_text()
    commands = "\n".join(line[4:] for line in source.splitlines() if line.startswith("//! rustc"))
    commands = commands.replace("rustc", "/usr/bin/rustc").replace(
        "examples", str(ROOT / "examples")
    )
    subprocess.run(["sh", "-ec", commands], check=True, cwd=tmp_path)
    made = build([tmp_path / "libhello.a"], tmp_path / "hello.ok")
    assert made.required == ("openkal.stream", "openkal.env")
    assert output(tmp_path / "hello.ok", "a", "b", status=2) == "hello from Rust\n"
    assert (tmp_path / "hello.ok").stat().st_size < 16 << 10


@pytest.mark.spec("SDK-1")
def test_example_in_c(tmp_path):
    """The example of the README."""
    build([ROOT / "examples/hello.c"], tmp_path / "hello.ok")
    assert output(tmp_path / "hello.ok", "world", "you") == "hello, world\nhello, you\n"


@pytest.mark.spec("SDK-3", "NOTE-3")
def test_arguments_that_overflow_the_stack_fault_at_its_end(write, tmp_path):
    """However long they are, the fault is at the guard, and nothing beyond it was written."""
    note = "OPENKAL_IMAGE(KAL_IFACE_STREAM | KAL_IFACE_ENV, 0, 65536)\n"
    source = "#include <openkal/image.h>\n" + SAID.replace("int main", f"{note}int main")
    image = tmp_path / "small.ok"
    build([write("small.c", source)], image)
    assert output(image, "x" * 60000, status=7) == "x"
    for count in (1, 2, 10):
        ran = okrun.run(image, ["x" * 100_000] * count, stderr=subprocess.PIPE, timeout=60)
        assert ran.returncode == -signal.SIGSEGV
        assert b"stack overflow" in ran.stderr
