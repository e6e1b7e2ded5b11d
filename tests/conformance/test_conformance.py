"""Everything that openkal says of an implementation holds for the native one."""

import re

import pytest

from okld.iface.table import FUNCTIONS, interface_of

FOUND = {
    "time": ["time.kal_time_props: unassigned positions are 0"],
    "env": [
        "env.kal_env_var: a capacity of 0 asks for the length",
        "env.kal_env_var: a smaller buffer gets what fits, and the length is the text's own",
    ],
    "random": ["random.kal_random_fill: null with a length is kal_err_invalid"],
    "region": ["region.kal_region_reserve: a refusal leaves the out-pointer as it was"],
    "fs-names": ["fs.kal_fs_mkdir: one that is there is kal_err_exists"],
    "datagram": ["datagram.kal_datagram_local: a handle that was closed"],
    "stream": [],
}
"""What is to be found in a host with the faults of faulty.c, by image."""

FAULTS = ("exec", "map", "region")
"""Images copies of which touch what they may not: the host says so on standard error."""

LINE = re.compile(r"([a-z]+)\.(kal_[a-z0-9_]+): .*: (held|not held|not observed)")


def checks(lines):
    """Return the lines of a report that are checks; the last one is not."""
    return lines[:-1]


@pytest.mark.spec("CONF-1", "CONF-2", "CONF-4")
def test_everything_is_held_wherever_it_runs(report, name):
    """On both processors, measured and not, an image says the same: that everything is held."""
    first = report(name, "x86_64")
    for machine in ("x86_64", "aarch64"):
        for measured in (False, True):
            one = report(name, machine, measured=measured)
            assert [line for line in checks(one.lines) if not line.endswith(": held")] == []
            assert one.status == 0
            assert (b"SIGSEGV" in one.errors) if name in FAULTS else one.errors == b""
            assert one.lines == first.lines
    assert first.lines[-1] == f"{len(checks(first.lines))} held, 0 not held, 0 not observed"


@pytest.mark.spec("CONF-2")
def test_a_check_is_a_line(report, name):
    """Each line names a function of the surface, in its interface, and no two say the same."""
    lines = checks(report(name, "x86_64").lines)
    assert len(lines) == len(set(lines)) > 0
    for line in lines:
        interface, function, _ = LINE.fullmatch(line).groups()
        assert function in FUNCTIONS
        assert interface_of(function) in (f"openkal.{interface}", None)


@pytest.mark.spec("CONF-3")
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_function_is_called(report, images, machine):
    """The reports of the calls, all together, count each function of the surface."""
    called = set().union(*(report(name, machine, measured=True).called for name in images))
    assert called == set(FUNCTIONS)


@pytest.mark.spec("CONF-3")
def test_every_function_is_checked(report, images):
    """The suite has a line, and mostly many, for each function of the surface."""
    lines = [line for name in images for line in report(name, "x86_64").lines]
    assert {match[2] for match in map(LINE.fullmatch, lines) if match} == set(FUNCTIONS)


@pytest.mark.spec("CONF-2")
def test_what_is_not_held_is_said(runner, tmp_path):
    """Without the arguments that it checks an image says what is not held, and ends with 1."""
    done = runner("x86_64")("env", cwd=tmp_path)
    *lines, summary = done.stdout.decode().splitlines()
    missing = [line for line in lines if line.endswith(": not held")]
    assert "env.kal_env_arg_count: counts the program's own name: not held" in missing
    held = len(lines) - len(missing)
    assert summary == f"{held} held, {len(missing)} not held, 0 not observed"
    assert done.returncode == 1


@pytest.mark.spec("CONF-2")
def test_what_is_not_observed_is_said(runner, tmp_path):
    """Without the directory of devices an image says what it could not see, and ends with 0."""
    done = runner("x86_64")("stream", cwd=tmp_path, options=["--dir", tmp_path])
    *lines, summary = done.stdout.decode().splitlines()
    unseen = [line for line in lines if line.endswith(": not observed")]
    assert unseen == ["stream.kal_stream_write: no room is kal_err_no_space: not observed"]
    assert summary == f"{len(lines) - 1} held, 0 not held, 1 not observed"
    assert done.returncode == 0


@pytest.mark.spec("CONF-1", "CONF-2")
@pytest.mark.parametrize("image", FOUND)
def test_faults_are_found(report, faulty_host, image):
    """Of an implementation with faults the suite says which they are, and nothing else."""
    one = report(image, "x86_64", host=faulty_host)
    missing = [line for line in checks(one.lines) if not line.endswith(": held")]
    assert missing == [f"{line}: not held" for line in FOUND[image]]
    assert one.status == (1 if missing else 0)
