"""An image starts programs and pipes data through each."""

import pytest


@pytest.mark.spec("PROC-1", "PROC-3", "PROC-4", "PROC-5")
@pytest.mark.parametrize("host", ["installed", "sanitized"])
def test_five_hundred_programs(run, request, host):
    """Every byte comes back from every program, images among them, and each ends."""
    options = []
    if host == "sanitized":
        options = ["--host", request.getfixturevalue("sanitized_host")]
    done = run("pipe", "500", run.image("turn"), options=options)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
