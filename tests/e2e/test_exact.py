"""A report says what the image's source does: no call more or less, in every phase."""

import json

import pytest
import scripted
from running import COMPILERS

from okld.sdk.build import build as build_image


def report_in(folder):
    (path,) = folder.iterdir()
    return json.loads(path.read_bytes())


@pytest.mark.spec("PROF-2", "PROF-5", "PROF-6")
@pytest.mark.parametrize("tasks", [0, 1, 8])
@pytest.mark.parametrize("what", ["count", "calls"])
def test_every_function_in_every_phase(run_on_each, tmp_path, what, tasks):
    """
    Every function of the surface, called a different number of times in each phase, by the first
    task or by others, one and eight at once: the report has these numbers and no other.
    """
    source, image = tmp_path / "script.c", tmp_path / "script.ok"
    source.write_text(scripted.source(tasks))
    build_image([source], image, cc=COMPILERS[run_on_each.machine])
    done = run_on_each(image, options=[f"--prof={what}:out"], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (6, b"", b"")
    scripted.hold_to_source(report_in(tmp_path / "out"), tasks, what)
