"""Runs of an image, recorded and compared by the installed commands."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from running import CLEAN, ROOT, build, command, run  # noqa: F401 - fixtures

NOISE = ROOT / "tests/noise"


@pytest.fixture(scope="session")
def sources():
    """Return where the source of the image is."""
    return NOISE


@pytest.mark.spec("DIFF-3", "DIFF-10", "DIFF-11")
def test_counts_of_a_program_that_does_more(run, command, tmp_path):  # noqa: F811
    """work.c: with a fifth of 4 fills there are 5, and 50 times as many of each of the others."""
    for side, fills in (("a", "4"), ("b", "5")):
        for _ in range(2):
            done = run("work", "64", fills, options=[f"--prof=calls,counters:{tmp_path / side}"])
            assert done.returncode == 0
    words = [command("okprof"), "diff", "--json", "--check", tmp_path / "a", tmp_path / "b"]
    done = subprocess.run(words, env=CLEAN, capture_output=True)
    value = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (1, b"")
    counts = {
        (each["kind"], each["name"]): (each["a"], each["b"])
        for each in value["counts"]
        if not each["same"]
    }
    others = ("stream_write", "stream_flush", "stream_props", "time_wall", "time_monotonic",
              "alloc", "free", "memory_granularity")  # fmt: skip
    assert counts == {
        ("call", "kal_random_fill"): ([4, 4], [5, 5]),
        ("counter", "bytes filled"): ([256, 256], [320, 320]),
        **{("call", f"kal_{name}"): ([200, 200], [250, 250]) for name in others},
    }
    worse = {(each["name"], each["growth"]) for each in value["check"]["regressions"]}
    assert worse == {(name, 0.25) for kind, name in counts if kind == "call"}
    assert value["check"]["times_judged"] is False
    phases = {row["name"] for row in value["times"] if row["kind"] == "phase"}
    assert phases == {"fill", "write", "memory"}
    assert value["notes"] == [
        "both sides ran the same build",
        "not the same arguments: A 64 4; B 64 5",
    ]


@pytest.mark.spec("DIFF-7", "DIFF-13")
def test_the_rates_of_real_runs_are_measured():
    """The command that measures them runs, and counts what is marked; here once, of few runs."""
    words = [sys.executable, NOISE, "--trials", "1", "--runs", "4", "--fills", "2"]
    done = subprocess.run(words, env=CLEAN, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.startswith("1 trials of 4 runs a side\n")
    # Four runs a side are too few for a mark: the slower call is never found.
    assert done.returncode == 1
    assert "any mark:        0 of 1\n" in done.stdout
    assert "found:          0 of 1\n" in done.stdout
