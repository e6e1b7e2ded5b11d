"""A report says what the image's source does, whatever implementation answers the calls."""

import json

import pytest
import scripted
from running import COMPILERS

from okld.sdk.build import build as build_image


@pytest.mark.spec("IMPL-5", "PROF-2", "PROF-6")
@pytest.mark.parametrize("tasks", [0, 8])
@pytest.mark.parametrize("what", ["count", "calls"])
def test_every_function_in_every_phase(runners, library, tmp_path, what, tasks):
    """
    Every function, called a different number of times in each phase by the first task, or by eight
    threads of the library at once: the report has these numbers and no other.
    """
    source, image = tmp_path / "script.c", tmp_path / "script.ok"
    source.write_text(scripted.source(tasks))
    build_image([source], image, cc=COMPILERS[runners.machine])
    runner = runners(library("native", runners.machine))
    done = runner(image, options=[f"--prof={what}:out"], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (6, b"", b"")
    (path,) = (tmp_path / "out").iterdir()
    scripted.hold_to_source(json.loads(path.read_bytes()), tasks, what)
