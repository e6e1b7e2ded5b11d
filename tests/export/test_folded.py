"""Folded stacks, also as flamegraph.pl reads them."""

import re
import subprocess

import pytest

from okrun.report.export.folded import export

FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"
"""Of the package libdevel-nytprof-perl."""

GOOD = """\
hello.ok;(outside_any_phase);kal_version 100
hello.ok;(outside_any_phase);openkal.stream;kal_stdout 40
hello.ok;read;openkal.stream;kal_stdout 60
hello.ok;read;openkal.stream;kal_stream_write 1400
hello.ok;write;openkal.stream;kal_stream_write 400
"""


def drawn(text):
    """Return the boxes that flamegraph.pl draws: name and value."""
    command = ["perl", FLAMEGRAPH, "--hash", "--minwidth=0", "--countname=ns"]
    answer = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert answer.stderr == ""
    titles = re.findall(r"<title>(.*?) \(([0-9,]+) ns, ", answer.stdout)
    return [(name, int(value.replace(",", ""))) for name, value in titles]


@pytest.mark.spec("EXP-5")
def test_one_sorted_line_a_stack(make_report):
    """The lines are those of the good report's calls, in nanoseconds."""
    assert export([make_report()]) == GOOD


@pytest.mark.spec("EXP-5")
def test_calls_where_not_all_were_timed(make_report):
    """With a report of counts the values are calls."""
    lines = export([make_report(), make_report(what=["count"])]).splitlines()
    assert lines[-1] == "hello.ok;write;openkal.stream;kal_stream_write 2"
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == 12


@pytest.mark.spec("EXP-5")
def test_flamegraph_draws_it(make_report):
    """The boxes of flamegraph.pl have the sums of their stacks."""
    assert sorted(drawn(export([make_report()]))) == sorted(
        [
            ("all", 2000),
            ("hello.ok", 2000),
            ("(outside_any_phase)", 140),
            ("read", 1460),
            ("write", 400),
            ("openkal.stream", 40),
            ("openkal.stream", 1460),
            ("openkal.stream", 400),
            ("kal_version", 100),
            ("kal_stdout", 40),
            ("kal_stdout", 60),
            ("kal_stream_write", 1400),
            ("kal_stream_write", 400),
        ]
    )


@pytest.mark.spec("EXP-5")
def test_no_name_ends_a_frame_or_a_line(hostile):
    """A semicolon, a space or a line's end in a name makes no more frames, stacks or values."""
    lines = export([hostile]).splitlines()
    assert len(lines) == 5
    assert all(re.fullmatch(r"[^; ]+(;[^; ]+){3} [0-9]+", line) for line in lines)
    assert ("all", 2000) in drawn(export([hostile]))
