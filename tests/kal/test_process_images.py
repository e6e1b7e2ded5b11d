"""openkal.process: images that an image starts, by the runner."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from struct import pack, unpack_from

import pytest
from running import CLEAN, COMMANDS
from starting import compile_program, records, words

from okld.base import installed
from okld.bundle.writer import write_bundle
from okld.sdk.flags import cflags, ldflags
from okrun.hosts import runner

TEXTS = [b"", b"a b", b"--", b"-x", b"line\n", b"\xff\xfe", b"\xc3\xa4", b"$HOME'\"\\", b""]
VARIABLES = [
    b"PYTHONHOME=/nowhere", b"PYTHONPATH=/nowhere", b"PYTHONINSPECT=1", b"PYTHONSTARTUP=/nowhere",
    b"PYTHONHASHSEED=none", b"PYTHONUTF8=0", b"PYTHONMALLOC=none", b"PYTHONWARNINGS=error",
    b"LC_ALL=C", b"LC_CTYPE=", b"EMPTY=", b"BYTES=\xff\xfe=\n",
]  # fmt: skip
ENTRIES = [*VARIABLES, b"no equals", b"=x", b"EMPTY=again"]


@pytest.mark.spec("PROC-1", "PROC-3")
def test_an_images_texts(run_on_each, prof, tmp_path):
    """An image is started with its arguments, its own name and its environment byte for byte."""
    image = run_on_each.image("show")
    native = run_on_each.machine == "x86_64"  # qemu-user sorts an environment, and leaves out some
    options = [*words("e", ENTRIES if native else VARIABLES), *words("g", ["/proc=proc"])]
    for name in (b"", b"its name", b"-\xff"):
        done = run_on_each("start", *options, "-n", name, image, *TEXTS, options=prof, cwd=tmp_path)
        assert done.stderr == b"ended 21\n"
        shown = records(done.stdout)
        assert shown["a"] == [name, *TEXTS]
        if native:
            assert (shown["v"], shown["e"]) == ([*VARIABLES, b"EMPTY="], ENTRIES)
        else:
            assert sorted(shown["v"]) == sorted(VARIABLES)
    done = run_on_each("start", image, cwd=tmp_path)
    assert records(done.stdout) == {**records(b"a\0"), "a": [os.fsencode(image)]}


@pytest.mark.spec("PROC-1", "PROC-3")
def test_an_images_directories(run, tmp_path):
    """An image is given the grants under their names, whatever these are, and no others."""
    names = [b"a=b", b"=", b"\xff\n", *(b"%d" % i for i in range(12)), b"x" * 4095]
    (tmp_path / "d").mkdir()
    grants = words("g", [b"/=%s" % name for name in names])
    done = run("start", *grants, "-w", str(tmp_path / "d"), run.image("show"))
    assert (done.stderr, records(done.stdout)["d"]) == (b"ended 21\n", names)


STATUS = b"#include <openkal/abort.h>\nint _start(void) { kal_exit(9); }"
FLAGS_1, PIE = 0x6FFFFFFB, 0x08000000


@pytest.mark.spec("PROC-3")
@pytest.mark.parametrize("mark", [0, PIE], ids=["object", "executable"])
def test_images_without_a_note(run, tmp_path, mark):
    """An image without a note is one by its imports; it may be marked as an executable."""
    image = tmp_path / "image"
    compile_program(STATUS, image, *cflags("x86_64"), *ldflags("x86_64"))
    assert b"openkal\0" not in image.read_bytes()
    data = bytearray(image.read_bytes())
    (at,) = [at for at in range(0, len(data) - 16, 8) if data[at : at + 8] == pack("<Q", FLAGS_1)]
    data[at + 8 : at + 16] = pack("<Q", unpack_from("<Q", data, at + 8)[0] | mark)
    image.write_bytes(data)
    said = subprocess.run(["readelf", "-d", image], capture_output=True, check=True).stdout
    assert (b"PIE" in said) == bool(mark)
    assert run("start", image).stderr == b"ended 9\n"


@pytest.mark.spec("PROC-3")
def test_an_image_need_not_be_executable(run, tmp_path):
    """Whether its file may be executed is a question for programs of the system."""
    image = tmp_path / "image"
    shutil.copy(run.image("show"), image)
    image.chmod(0o644)
    assert run("start", image).stderr == b"ended 21\n"


@pytest.mark.spec("PROC-3")
def test_bundles(run_on_each, build, tmp_path):
    """Of a bundle the member for the host program runs, also under a name with a colon."""
    bundle = tmp_path / "two:members.okb"
    images = [str(build("show", machine)) for machine in ("x86_64", "aarch64")]
    write_bundle(images, str(bundle), name="show")
    done = run_on_each("start", *words("e", [f"HOME={tmp_path}"]), bundle, "x")
    assert done.stderr == b"ended 21\n"
    assert records(done.stdout)["a"] == [os.fsencode(bundle), b"x"]


@pytest.mark.spec("PROC-3", "STAT-1")
def test_an_image_that_is_refused(run, tmp_path, one_line):
    """The runner refuses an image with its status and its line; the start itself was none."""
    image = bytearray(run.image("show").read_bytes())
    image[40:48] = bytes([255] * 8)  # e_shoff
    (tmp_path / "bad").write_bytes(image)
    done = run("start", tmp_path / "bad")
    line, ended = done.stderr.splitlines(keepends=True)
    assert ended == b"ended 126\n"
    assert "[IMG-" in one_line(line)


@pytest.mark.spec("PROC-3", "BIND-1")
def test_an_image_of_another_processor(run, build, one_line):
    """An image of another processor is an image all the same, and refused by the runner."""
    done = run("start", build("show", "aarch64"))
    line, ended = done.stderr.splitlines(keepends=True)
    assert ended == b"ended 126\n"
    assert "[BIND-1]" in one_line(line)


@pytest.mark.spec("PROC-3")
def test_options_go_on(run, build, aarch64_host, tmp_path):
    """Host program and emulator are those of the start, also where they were relative to it."""
    emulator = tmp_path / "bin" / "emulator"
    emulator.parent.mkdir()
    emulator.symlink_to(shutil.which("qemu-aarch64"))
    shutil.copy(aarch64_host, tmp_path / "host")
    start, show = build("start", "aarch64"), build("show", "aarch64")
    env = CLEAN | {"PATH": f"{emulator.parent}:{CLEAN['PATH']}"}
    for host, name in (("host", "emulator"), ("./host", "bin/emulator")):
        options = ["--host", host, "--emulator", name]
        done = run(start, "-w", "/", show, options=options, cwd=tmp_path, env=env)
        assert done.stderr == b"ended 21\n"


@pytest.mark.spec("PROC-3", "IMPL-6")
def test_the_command_that_starts_images(tmp_path, monkeypatch):
    """It has the options of its own start that say which images may run, and in what."""
    monkeypatch.setattr(installed, "COMMANDS", (f"{tmp_path}/nothing/", f"{tmp_path}/"))
    assert runner("", "", "", "", True) == b""
    (tmp_path / "okhost").write_bytes(b"")
    python, command = os.fsencode(sys.executable), os.fsencode(tmp_path / "okrun")
    assert runner("", "", "", "", True).split(b"\0") == [python, b"-I", command, b""]
    assert runner("/h", "/i", "/e", "signed", False).split(b"\0")[3:-1] == [
        b"--host", b"/h", b"--impl", b"/i", b"--emulator", b"/e", b"--policy", b"signed",
        b"--no-cache",
    ]  # fmt: skip


@pytest.mark.spec("PROC-3")
def test_where_the_command_is_not_installed(run, tmp_path):
    """Without the command no image can be started, but programs of the system can."""
    package = Path(installed.__file__).parents[1]
    for name in ("okld", "okrun"):
        shutil.copytree(package.with_name(name), tmp_path / "site" / name)
    main = "import sys; from okrun.cli.okrun import main; sys.exit(main())"
    python = [sys.executable, "-c", main, "--host", COMMANDS / "okhost", run.image("start")]
    more = {"env": CLEAN | {"PYTHONPATH": str(tmp_path / "site")}, "cwd": tmp_path, "check": True}
    for path, said in ((run.image("show"), b"error 7\n"), ("/bin/true", b"ended 0\n")):
        done = subprocess.run([*python, path], capture_output=True, **more)
        assert (done.stdout, done.stderr) == (b"", said)


@pytest.mark.spec("PROC-3", "PROF-1")
def test_a_started_image_is_measured_where_it_is_told_so(run_on_each, prof, tmp_path):
    """OKRUN_PROF in its environment has it measured, whether who starts it is measured or not."""
    show = run_on_each.image("show")
    variable = f"OKRUN_PROF=count:{tmp_path}/its"
    for environment, count in (([], 0), (["-e", variable], 1)):
        done = run_on_each("start", *environment, show, "x", options=prof, cwd=tmp_path)
        assert done.stderr == b"ended 21\n"
        reports = [json.loads(file.read_text()) for file in (tmp_path / "its").glob("*")]
        assert [report["image"]["path"] for report in reports] == [str(show)] * count
        assert [report["argv"] for report in reports] == [[str(show), "x"]] * count
    assert len(list((tmp_path / "reports").glob("*"))) == (2 if prof else 0)
