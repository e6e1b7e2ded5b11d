"""The heap of an image. What it takes where is known from the source, tests/measure/src/heap.c."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import pytest

HEAD = {
    "dhatFileVersion": 2, "mode": "heap", "verb": "Allocated", "bklt": True, "bkacc": False,
    "tu": "\u00b5s", "Mtu": "s",
}  # fmt: skip
"""What every file says, and what valgrind's viewer asks for, as its dh_view.js does."""

POINT = ["tb", "tbk", "tl", "mb", "mbk", "gb", "gbk", "eb", "ebk", "fs"]
FRAME = re.compile(r"(0x[0-9a-f]+): (\S+) \(([^+]*)\+(0x[0-9a-f]+)\)")


def files_in(folder):
    """Return the heap files of a folder, by the id of their report."""
    return {
        file.stem.removeprefix("dhat-heap-"): json.loads(file.read_bytes())
        for file in folder.glob("dhat-heap-*.json")
    }


def file_in(folder):
    (file,) = files_in(folder).values()
    return file


def functions(file, point):
    """Return the names of a point's frames; a frame's two addresses are one."""
    names = []
    for frame in point["fs"]:
        at, name, _, again = FRAME.fullmatch(file["ftbl"][frame]).groups()
        assert at == again
        names.append(name)
    return names


def taken(file, *most):
    """Return by the names of *most* frames at most what each point has, without its lifetimes."""
    points = {}
    for point in file["pps"]:
        assert list(point) == POINT
        names = tuple(functions(file, point)[: most[0] if most else None])
        assert names not in points
        points[names] = tuple(point[key] for key in POINT if key not in ("tl", "fs"))
    return points


def sums(file):
    """Return what the report is to say of a file."""
    keys = {"bytes": "tb", "blocks": "tbk", "peak_bytes": "gb", "peak_blocks": "gbk"}
    keys |= {"end_bytes": "eb", "end_blocks": "ebk"}
    return {name: sum(point[key] for point in file["pps"]) for name, key in keys.items()}


@pytest.mark.spec("HEAP-1", "HEAP-2", "HEAP-4", "HEAP-5", "PROF-4")
@pytest.mark.parametrize("what", ["heap", "heap,count", "heap,calls,counters"])
def test_every_block_is_where_it_was_taken(run_on_each, reports_in, tmp_path, what):
    """
    Blocks and bytes, their most, those at the peak and those at the end are the source's, for each
    way to kal_alloc; and the report says the sums.
    """
    done = run_on_each("heap", "script", options=[f"--prof={what}:out"], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (report,) = reports_in(tmp_path / "out")
    file = file_in(tmp_path / "out")
    rest = ("script", "main", "_start")
    assert taken(file) == {
        # total, most, at the peak, at the end: each bytes and blocks
        ("small", "first", *rest): (120, 5, 120, 5, 120, 5, 120, 5),
        ("large", "first", *rest): (2000, 2, 2000, 2, 2000, 2, 0, 0),
        ("small", "second", *rest): (72, 3, 72, 3, 0, 0, 0, 0),
        ("small", "third", *rest): (96, 4, 96, 4, 0, 0, 48, 2),
    }
    assert {key: file[key] for key in HEAD} == HEAD
    assert file["ftbl"][0] == "[root]"
    assert file["cmd"] == " ".join(report["argv"])
    assert file["pid"] == report["pid"]
    assert 0 < file["tg"] <= file["te"]
    assert type(file["tuth"]) is int
    assert file["okprof"] == {"id": report["id"], "untracked": 0, "whole": True}
    heap = report["heap"]
    assert heap.pop("file") == f"dhat-heap-{report['id']}.json"
    assert heap.pop("overhead_ns") > 0
    assert heap == sums(file)
    assert heap["blocks"] == 14
    calls = {call["name"]: call["count"] for call in report["calls"]}
    if what == "heap":
        assert calls == {}
    else:
        assert (calls["kal_alloc"], calls["kal_free"]) == (15, 9)


@pytest.mark.spec("HEAP-2")
def test_lifetimes_are_those_of_the_blocks(run, tmp_path):
    """A block that lived to the end did not live longer than the program, nor less than nothing."""
    run("heap", "script", options=["--prof=heap:out"], cwd=tmp_path)
    file = file_in(tmp_path / "out")
    for point in file["pps"]:
        assert 0 <= point["tl"] <= point["tbk"] * file["te"]


@pytest.mark.spec("HEAP-2", "HEAP-3")
def test_eight_tasks_lose_nothing(run_on_each, tmp_path):
    """Eight tasks at once: every block of each is counted, as of the function that took it."""
    done = run_on_each("heap", "tasks", options=["--prof=heap:out"], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    file = file_in(tmp_path / "out")
    points = [point for point in file["pps"] if functions(file, point) == ["work"]]
    assert len(points) == len(file["pps"]) == 2  # the call whose block is freed, and the other
    freed, kept = sorted(points, key=lambda point: point["ebk"])
    assert (freed["tbk"], freed["ebk"], freed["eb"]) == (8000, 0, 0)
    assert freed["tb"] == 1000 * sum(range(16, 24))
    assert (kept["tbk"], kept["ebk"]) == (24, 24)
    assert kept["tb"] == kept["eb"] == kept["mb"] == 3 * sum(range(16, 24))


@pytest.mark.spec("HEAP-1")
def test_a_backtrace_has_the_innermost_frames(run_on_each, tmp_path):
    """Of up to 205 frames the 32 innermost are kept; what differs only above them is one."""
    run_on_each("heap", "deep", options=["--prof=heap:out"], cwd=tmp_path)
    file = file_in(tmp_path / "out")
    chains = {tuple(functions(file, point)): point["tbk"] for point in file["pps"]}
    outer = ("all_depths", "main", "_start")
    whole = {("small", *["deep"] * (n + 1), *outer)[:32]: 1 for n in range(28)}
    assert len(chains) == len(file["pps"])
    assert {chain: n for chain, n in chains.items() if "main" in chain[:-1]} == {
        chain: n for chain, n in whole.items() if "main" in chain[:-1]
    }
    assert chains["small", *["deep"] * 31] == 200 - 30
    assert sum(chains.values()) == 200


ENDS = {
    "exit": (5, ("exit", 5, None)),
    "abort": (-signal.SIGABRT, ("abort", 134, 6)),
    "crash": (-signal.SIGSEGV, ("signal", 139, 11)),
}


@pytest.mark.spec("HEAP-4", "REP-2")
@pytest.mark.parametrize("way", ENDS)
def test_every_end_writes_the_file(run, reports_in, tmp_path, way):
    """kal_exit, kal_abort and a crash leave the file, whole."""
    done = run("heap", way, options=["--prof=heap:out"], cwd=tmp_path)
    (report,) = reports_in(tmp_path / "out")
    assert (done.returncode, tuple(report["ended"].values())) == ENDS[way]
    file = file_in(tmp_path / "out")
    assert file["okprof"]["whole"]
    assert list(taken(file, 1).values()) == [(24, 1) * 4]


@pytest.mark.spec("HEAP-4")
def test_a_kill_leaves_no_file(run, tmp_path):
    """After SIGKILL there is nothing that could be taken for a whole file."""
    options = {"options": ["--prof=heap:out"], "cwd": tmp_path, "stdout": subprocess.PIPE}
    with run.start("heap", "spin", **options) as process:
        assert process.stdout.readline() == b"begun\n"
        process.kill()
    assert not [path for path in (tmp_path / "out").iterdir() if path.suffix == ".json"]


@pytest.mark.spec("HEAP-6", "CRASH-1")
@pytest.mark.parametrize("turn", range(6))
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSEGV], ids=["asked", "crash"])
def test_a_signal_in_the_middle(run, reports_in, tmp_path, number, turn):
    """
    Whatever an image that takes and frees without end is at when a signal ends it, the file is
    there, and whole; after a crash, which cannot wait, it may not be: then it and a line say so.
    """
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with run.start("heap", "spin", options=["--prof=heap:out"], cwd=tmp_path, **pipes) as process:
        assert process.stdout.readline() == b"begun\n"
        time.sleep(0.01 + turn / 1000)
        process.send_signal(number)
        said = process.stderr.read()
    assert process.returncode == -number
    (report,) = reports_in(tmp_path / "out")
    file = file_in(tmp_path / "out")
    assert report["ended"]["signal"] == number
    if file["okprof"]["whole"]:
        assert b"dhat-heap" not in said
        assert report["heap"]["end_blocks"] in (0, 1)
        assert {key: report["heap"][key] for key in sums(file)} == sums(file)
    else:
        assert number == signal.SIGSEGV
        assert re.search(rb"^okrun: dhat-heap-[^\n]*: a task was allocating [^\n]*$", said, re.M)


@pytest.mark.spec("HEAP-5", "PROF-4")
def test_a_full_disk(run, inside, reports_in, one_line, tmp_path):
    """Where the file finds no room the report says so, one line does, and nothing is left of it."""
    words = run.words("heap", "deep", options=["--prof=heap:out"])
    (tmp_path / "out").mkdir()
    (tmp_path / "kept").mkdir()
    script = 'mount -t tmpfs -o size=8k none out; "$@"; cp -a out/. kept/'
    done = subprocess.run(inside(script, *words), cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0
    assert "no heap profile: cannot write dhat-heap-" in one_line(done.stderr)
    assert "No space left on device" in one_line(done.stderr)
    (report,) = reports_in(tmp_path / "kept")
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [f"okprof-{report['id']}.json"]
    heap = report["heap"]
    assert (heap["file"], heap["blocks"], heap["end_bytes"]) == (None, 200, 200 * 24)


@pytest.mark.spec("HEAP-5", "REP-6", "PROF-4")
def test_a_name_that_is_taken_meanwhile(run, reports_in, one_line, tmp_path):
    """What has the file's name by then stays as it is, and one line says so."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with run.start("heap", "spin", options=["--prof=heap:out"], cwd=tmp_path, **pipes) as process:
        assert process.stdout.readline() == b"begun\n"
        (begun,) = (tmp_path / "out").iterdir()
        name = begun.stem.replace(".okprof", "dhat-heap") + ".json"
        (tmp_path / "out" / name).write_text("another's")
        process.terminate()
        said = process.stderr.read()
    assert one_line(said) == f"okrun: no heap profile: cannot write {name}: File exists\n"
    (report,) = reports_in(tmp_path / "out")
    assert report["heap"]["file"] is None
    assert (tmp_path / "out" / name).read_text() == "another's"
    assert len(list((tmp_path / "out").iterdir())) == 2


@pytest.mark.spec("HEAP-3", "HEAP-7")
def test_no_memory_for_the_book(run, reports_in, one_line, tmp_path):
    """
    An image that takes all memory there is takes as many blocks, and those that could not be noted
    are counted, in the file and in one line.
    """

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (80 << 20, 80 << 20))

    options = {"options": ["--prof=heap:out"], "cwd": tmp_path, "preexec_fn": limit}
    done = run("heap", "many", **options)
    assert done.returncode == 0
    (report,) = reports_in(tmp_path / "out")
    file = file_in(tmp_path / "out")
    untracked = file["okprof"]["untracked"]
    assert untracked > 0
    assert f" {untracked} blocks are not in it" in one_line(done.stderr)
    assert report["heap"]["blocks"] + untracked == int(done.stdout)
    assert report["heap"]["end_blocks"] == 0


@pytest.mark.spec("HEAP-5")
def test_a_program_that_uses_up_descriptors(run, tmp_path):
    """One is kept for the file."""
    done = run("heap", "descriptors", options=["--prof=heap:out"], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(file_in(tmp_path / "out")["pps"]) == 1


@pytest.mark.spec("HEAP-8")
def test_a_copy_begins_anew(run_on_each, reports_in, tmp_path):
    """A copy's file has what it took itself; what it frees of the original's is nothing."""
    done = run_on_each("copies", options=["--prof=heap:out"], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    original, copy = reports_in(tmp_path / "out")
    assert original["pid"] != copy["pid"]
    files = files_in(tmp_path / "out")
    want = {"take": (110, 2) * 4}, {"take": (4000, 4, 4000, 4, 4000, 4, 3000, 3)}
    for report, points in zip((original, copy), want, strict=True):
        file = files[report["id"]]
        assert file["pid"] == report["pid"]
        summed = {}
        for (name,), values in taken_by_function(file).items():
            summed[name] = values
        assert summed == points


def taken_by_function(file):
    """Return the sums of the points of each innermost function."""
    points = {}
    for point in file["pps"]:
        name = functions(file, point)[0]
        before = points.get((name,), (0,) * 8)
        now = [point[key] for key in POINT if key not in ("tl", "fs")]
        points[(name,)] = tuple(map(sum, zip(before, now, strict=True)))
    return points


@pytest.mark.spec("HEAP-4", "ERR-2")
def test_names_that_would_break_the_file(run, tmp_path):
    """A name of any bytes is one JSON string, with what no terminal may see as \\xNN."""
    data = run.image("heap").read_bytes()
    assert data.count(b"\0second\0") == 1
    image = tmp_path / "re\nnamed.ok"
    image.write_bytes(data.replace(b"\0second\0", b'\0s"\n\xff\x1b\\\0'))
    run(image, "script", options=["--prof=heap:out"], cwd=tmp_path)
    frames = file_in(tmp_path / "out")["ftbl"]
    assert [frame.split()[1] for frame in frames if ': s"' in frame] == ['s"\\x0a\\xff\\x1b\\']
    assert all("(re\\x0anamed.ok+0x" in frame for frame in frames[1:])


@pytest.mark.spec("HEAP-4")
def test_an_image_without_names(run, tmp_path):
    """Frames of an image that has no symbols are their addresses."""
    image = tmp_path / "bare.ok"
    subprocess.run(["objcopy", "--strip-all", run.image("heap"), image], check=True)
    run(image, "script", options=["--prof=heap:out"], cwd=tmp_path)
    file = file_in(tmp_path / "out")
    for point in file["pps"]:
        assert functions(file, point) == ["???"] * 5


@pytest.mark.spec("HEAP-4")
def test_frames_are_in_the_calls(run, tmp_path):
    """The address of a frame is in the call, where its line and what is inlined there are found."""
    source = run.image("heap")
    run("heap", "exit", options=["--prof=heap:out"], cwd=tmp_path)
    file = file_in(tmp_path / "out")
    (point,) = file["pps"]
    addresses = [file["ftbl"][frame].split(":")[0] for frame in point["fs"]]
    dump = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", source], capture_output=True, text=True, check=True
    ).stdout
    starts = [int(at, 16) for at in re.findall(r"^ +([0-9a-f]+):\t", dump, re.M)]
    for address in (int(at, 16) for at in addresses):
        start = max(at for at in starts if at <= address)
        (instruction,) = re.findall(rf"^ +{start:x}:\t(?:addr32 )?(\w+)", dump, re.M)
        assert instruction == "call"


@pytest.mark.spec("RI-4")
@pytest.mark.parametrize(("what", "bits"), [("heap", 6), ("perfmap", 2), ("count", 3)])
def test_a_program_knows_that_its_heap_is_measured(run, map_of, tmp_path, what, bits):
    """KAL_PROF_PROP_HEAP is set when the heap is measured, and then alone."""
    process = run.start("heap", "props", options=[f"--prof={what}:out"], cwd=tmp_path)
    map_of(process.pid)
    assert process.wait(60) == bits


@pytest.mark.spec("HEAP-2")
def test_as_valgrind_counts(command, tmp_path):
    """
    DHAT of valgrind has the same numbers for the same source, built for both; but the most of a
    point, which valgrind takes at the peaks of the whole program alone.
    """
    valgrind = shutil.which("valgrind")
    assert valgrind is not None, "valgrind is not installed"
    source = str(tmp_path / "shuffle.c")
    shutil.copy(os.path.join(os.path.dirname(__file__), "src", "shuffle.c"), source)
    image, native = tmp_path / "shuffle.ok", tmp_path / "shuffle"
    subprocess.run([command("okld"), "build", source, "-o", image], check=True)
    flags = ["-O2", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-DNATIVE"]
    subprocess.run(["gcc", *flags, source, "-o", native], check=True)
    subprocess.run([command("okrun"), "--prof=heap:out", image], cwd=tmp_path, check=True)
    words = [valgrind, "--tool=dhat", "--dhat-out-file=native.json", "--num-callers=40", native]
    subprocess.run(words, cwd=tmp_path, capture_output=True, check=True)
    ours = by_functions(file_in(tmp_path / "out"))
    theirs = by_functions(json.loads((tmp_path / "native.json").read_text()))
    assert len(ours) == 8
    assert ours.keys() == theirs.keys()
    for names, point in ours.items():
        same = ("tb", "tbk", "gb", "gbk", "eb", "ebk")
        assert [point[key] for key in same] == [theirs[names][key] for key in same]
        assert point["mb"] >= theirs[names]["mb"]


def by_functions(file):
    """Return points by the names of their frames up to `shuffle`, as either program writes them."""
    points = {}
    for point in file["pps"]:
        names = [file["ftbl"][frame].split(": ")[1].split(" ")[0] for frame in point["fs"]]
        names = [name for name in names[: names.index("shuffle")] if name != "malloc"]
        assert tuple(names) not in points
        points[tuple(names)] = point
    return points
