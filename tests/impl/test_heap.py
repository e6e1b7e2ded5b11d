"""The heap of an image is measured whatever implementation it is bound to."""

import json

import pytest


def ways(folder):
    """Return the blocks, and those at the end, of the way to each point, by its functions."""
    (path,) = folder.glob("dhat-heap-*.json")
    file = json.loads(path.read_bytes())
    found = {}
    for point in file["pps"]:
        names = [file["ftbl"][frame].split()[1] for frame in point["fs"]]
        inside = [name for name in names if name not in ("_start", "implementation", "???")]
        found.setdefault(tuple(inside), []).append((point["tb"], point["eb"]))
    return {way: sorted(sizes) for way, sizes in found.items()}


@pytest.mark.spec("HEAP-1", "HEAP-2", "IMPL-1")
@pytest.mark.parametrize("what", ["heap", "heap,calls"])
def test_blocks_of_a_librarys_tasks(runners, library, tmp_path, what):
    """Blocks, and the ways to them, are the same with a library, whose own the stacks are."""
    path = library("native", runners.machine)
    for name, implementation in (("own", None), ("library", path)):
        done = runners(implementation)("takes", options=[f"--prof={what}:{name}"], cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, b"")
        assert ways(tmp_path / name) == {
            ("take", "main"): [(3, 3)],
            ("take", "work"): [(20, 20), (100, 0)],
        }
