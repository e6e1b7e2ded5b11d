"""What people read of a report."""

import re

import pytest
from reporting import HEAP, call, call_in_phase
from text_of_reports import ESTIMATES, notes, rows, told

from okrun.cli.render import as_text
from okrun.report.files import find
from okrun.report.merge import merge

TIMES = ("of time", "calls", "total", "mean", "p50", "p90", "p99", "max")


@pytest.mark.spec("REP-3", "RPT-10")
def test_tables(make_report):
    """
    There is a row for each interface and each function, with percentiles of two digits; the name
    is last.
    """
    text = told([make_report()])
    assert rows(text, *TIMES, "interface") == [
        ["95.0 %", "5", "1.90 us", "380.0 ns", "380 ns", "1.0 us", "1.0 us", "1.00 us",
         "openkal.stream"],
        ["5.0 %", "1", "100 ns", "100.0 ns", "100 ns", "100 ns", "100 ns", "100 ns",
         "(of no interface)"],
    ]  # fmt: skip
    assert [row[-1] for row in rows(text, *TIMES, "function")] == [
        "kal_stream_write",
        "kal_stdout",
        "kal_version",
    ]
    assert rows(text, "value", "counter") == [["7", "lines"]]


@pytest.mark.spec("RPT-8", "RPT-10")
def test_phases(make_report):
    """Under each phase are its calls and what its counters grew by; last is what lies outside."""
    text = told([make_report(elapsed_ns=1000)])
    assert rows(text, "of run", "elapsed", "begun", "calls", "total", "max", "phase") == [
        ["75.0 %", "750 ns", "2", "3", "1.46 us", "read"],
        ["2", "1.40 us", "1.00 us", "kal_stream_write"],
        ["1", "60 ns", "60 ns", "kal_stdout"],
        ["counters: lines +5"],
        ["24.0 %", "240 ns", "1", "1", "400 ns", "write"],
        ["1", "400 ns", "400 ns", "kal_stream_write"],
        ["counters: lines +1"],
        ["1.0 %", "10 ns", "2", "140 ns", "(outside any phase)"],
        ["1", "100 ns", "-", "kal_version"],
        ["1", "40 ns", "-", "kal_stdout"],
        ["counters: lines +1"],
    ]


@pytest.mark.spec("RPT-10")
def test_numbers_are_aligned(make_report):
    """Every number of a column ends in the column in which its heading ends."""
    calls = [call("kal_alloc", "openkal.memory", *[7] * 12_345), call("kal_free", None, 10**12)]
    table = told([make_report(calls=calls, phase_totals=[])]).split("\n\n")[1].splitlines()
    for heading in TIMES:
        end = table[0].index(f" {heading} ") + len(heading) + 1 if heading != "of time" else 7
        assert all(line[end - 1] != " " and line[end] == " " for line in table)
    assert "12,345" in table[2]


@pytest.mark.spec("RPT-9")
def test_the_cost_of_measuring_is_told(make_report):
    """The head says what ran, how it ended, and what measuring has cost of the time."""
    text = told([make_report(elapsed_ns=12_900)])
    assert text.split("\n\n")[0] == (
        "1 report of hello.ok (x86_64)\n"
        "ended by   exit 42\n"
        "elapsed    12.90 us\n"
        "in calls   2.00 us (15.5 %), waiting included; 6 calls\n"
        "measuring  cost about 129.0 ns (1.0 %): 21.5 ns a call by tsc"
    )


@pytest.mark.spec("RPT-9")
def test_several_clocks(make_report):
    """Of several clocks each is told, with the least and the most that it adds."""
    clocks = [("tsc", 20), ("tsc", 30), ("monotonic", 50)]
    reports = [
        make_report(clock={"source": name, "overhead_ns": cost}, heap=HEAP) for name, cost in clocks
    ]
    assert (
        "20.0 ns to 30.0 ns a call by tsc, 50.0 ns a call by monotonic, up to 150.0 ns a block\n"
    ) in told(reports)


@pytest.mark.spec("RPT-10")
def test_several_images(make_report):
    """Where several images ran, each has a row, and those of one path differ by their build id."""
    reports = [
        make_report(run="r", image={"path": "a.ok", "build_id": build_id, "arch": "x86_64"})
        for build_id in ("0123456789abcdef", "fedcba9876543210", None)
    ]
    reports.append(make_report(run="r", ended={"by": "signal", "status": 139, "signal": 11}))
    text = told(reports)
    assert text.startswith(
        "4 reports in 1 run of 4 images\nended by   exit 42 (3), signal SIGSEGV\n"
    )
    assert [row[-1] for row in rows(text, "reports", "elapsed", "calls", "total", "image")] == [
        "a.ok (x86_64) build id 0123456789ab",
        "a.ok (x86_64) build id fedcba987654",
        "a.ok (x86_64)",
        "hello.ok (x86_64) build id 00ff",
    ]


@pytest.mark.spec("RPT-10")
def test_a_signal_without_a_name(make_report):
    """A signal that has no name is told by its number."""
    text = told([make_report(ended={"by": "signal", "status": 161, "signal": 33})])
    assert "ended by   signal 33\n" in text


@pytest.mark.spec("RPT-3")
def test_what_was_begun_is_told(tmp_path, write_report, begin_report):
    """Who goes on, who left no report and what cannot be read has a line each, five at the most."""
    write_report(tmp_path)
    begin_report(tmp_path, running=True, pid=5)
    for pid in range(10, 17):
        begin_report(tmp_path, pid=pid, id=f"z{pid}")
    (tmp_path / ".okprof-0.part").touch()
    found = find([str(tmp_path)])
    text = as_text(merge(found.reports), found, "time")
    gone = "".join(f"no report  hello.ok (pid {pid})\n" for pid in range(10, 15))
    assert (
        f"running    hello.ok (pid 5)\n{gone}no report  and 2 more\n"
        f"begun      {tmp_path}/.okprof-0.part cannot be read\n"
    ) in text


@pytest.mark.spec("RPT-6", "RPT-10")
def test_no_more_notes_than_needed(make_report):
    """Of a plain report only the percentiles have a note; where nothing was timed there is none."""
    assert notes(told([make_report()])) == [ESTIMATES]
    assert notes(told([make_report(what=["count"])])) == []


@pytest.mark.spec("RPT-10")
@pytest.mark.parametrize("edits", [{"tasks": 2}, {"elapsed_ns": 1999}])
def test_times_of_tasks_add_up(make_report, edits):
    """With several tasks, or calls that took longer than the run, a note says why."""
    text = told([make_report(**edits)])
    assert "times of several tasks add up: calls may take longer than their run" in notes(text)


@pytest.mark.spec("RPT-10")
def test_what_is_missing_is_told(make_report, good):
    """Calls that had not returned, lost counters and phases that no list has are notes."""
    good["calls"][0]["count"] = 3
    text = told(
        [make_report(calls=good["calls"], lost=["a", "b"], phases_left_out=1, phase_totals=[])]
    )
    assert notes(text)[1:] == [
        "calls that had not returned: kal_version 2",
        "counter not read whole: a",
        "counter not read whole: b",
        "1 phase too many for the list of a report; the sums have them",
    ]


@pytest.mark.spec("RPT-8", "RPT-10")
def test_a_call_that_a_phase_ends_in(make_report, good):
    """Where a call began in one phase and returned in another, a note says where it is told."""
    good["phase_totals"][0]["calls"][0]["count"] = 2
    good["phase_totals"][1]["calls"][0]["count"] = 0
    text = told([make_report(phase_totals=good["phase_totals"])])
    assert "of phases: a call counts where it began, its time where it returned" in notes(text)


@pytest.mark.spec("RPT-10")
def test_counted_and_timed(make_report):
    """Where one run was timed and another only counted, a note says why times lack."""
    reports = [
        make_report(),
        make_report(what=["count"], calls=[call("kal_exit", None)], phase_totals=[]),
    ]
    assert notes(told(reports)) == [
        "what one run timed and another counted has a count and no time"
    ]
    assert "in calls   6 calls, not all timed\n" in told(reports)
    assert "in calls   0 calls, not timed\n" in told(reports[1:])


@pytest.mark.spec("RPT-10")
def test_counts_have_no_columns_of_times(make_report):
    """Columns that would say nothing are not there."""
    text = told([make_report(what=["count"])])
    assert rows(text, "of calls", "calls", "interface")[0] == ["83.3 %", "5", "openkal.stream"]
    assert rows(text, "of run", "elapsed", "begun", "calls", "phase")[1] == [
        "2",
        "kal_stream_write",
    ]


@pytest.mark.spec("RPT-10")
def test_many_phases(make_report):
    """The fifty longest phases are shown, each with five functions; how many more is said."""
    names = [f"kal_{letter}" for letter in "abcdefg"]
    totals = [
        {"name": f"p{i}", "count": 1, "elapsed_ns": 1000 + i,
         "calls": [call_in_phase(name, 10) for name in names] if i == 59 else [],
         "counters": [{"name": name, "value": 1} for name in names] if i == 59 else []}
        for i in range(60)
    ]  # fmt: skip
    calls = [call(name, None, 10) for name in names]
    text = told([make_report(elapsed_ns=100_000, calls=calls, phase_totals=totals)])
    table = rows(text, "of run", "elapsed", "begun", "calls", "total", "max", "phase")
    begun = [row[-1] for row in table if row[-1].startswith("p")]
    assert begun == [f"p{i}" for i in range(10, 60)]
    assert [row[-1] for row in table[-11:-1]] == [
        "p59",
        *names[:5],
        "and 2 more functions",
        "counters: kal_a +1, kal_b +1, kal_c +1, kal_d +1, kal_e +1, and 2 more",
        "and 10 shorter phases",
        "(outside any phase)",
    ]
    assert "of phases: not all is shown; --json has it" in notes(text)


@pytest.mark.spec("RPT-10")
def test_heap(make_report):
    """What was taken from the heap is a table, which names the file that tells more."""
    assert rows(told([make_report(heap=HEAP)]), "blocks", "bytes", "heap") == [
        ["10", "4,096", "allocated in all, told by dhat-heap-4f2a.json"],
        ["4", "1,024", "at the peak of a process"],
        ["1", "16", "not freed at the end"],
    ]
    assert "told by dhat-heap-4f2a.json and 1 more file" in told([make_report(heap=HEAP)] * 2)
    assert "told by" not in told([make_report(heap=HEAP | {"file": None})])


@pytest.mark.spec("ERR-2", "RPT-10")
def test_names_cannot_move_the_cursor(make_report):
    """
    Control bytes of names in a report, and bytes that are not UTF-8, are shown as they are written.
    """
    name = "\x1b[2J\r\n\udcff\u202e"
    text = told(
        [
            make_report(
                image={"path": name, "build_id": name, "arch": name},
                clock={"source": name, "overhead_ns": 1},
                calls=[call(name, name, 5)],
                counters=[{"name": name, "value": 1}],
                phase_totals=[{"name": name, "count": 1, "elapsed_ns": 5,
                               "calls": [call_in_phase(name, 5)],
                               "counters": [{"name": name, "value": 1}]}],
                lost=[name],
                heap=HEAP | {"file": name},
            )
            for _ in range(2)
        ]
    )  # fmt: skip
    assert all(line.isprintable() for line in text.split("\n"))
    assert text.count("\\x1b[2J\\x0d\\x0a\\xff\\xe2\\x80\\xae") > 8


@pytest.mark.spec("RPT-10")
@pytest.mark.parametrize(
    ("width", "left_out"),
    [(84, 0), (83, 1), (75, 2), (67, 3), (57, 4), (49, 5), (20, 5)],
)
def test_narrow_terminals(make_report, width, left_out):
    """
    Where the columns do not fit (84 are needed), those that say least are left out, one by one;
    share, calls, total and names never are.
    """
    spare = ("p90", "p50", "mean", "p99", "max")[:left_out]
    heading = [name for name in (*TIMES, "function") if name not in spare]
    table = told([make_report()], width=width).split("\n\n")[2].splitlines()
    assert re.split(" {2,}", table[0]) == heading
    assert max(map(len, table)) <= max(width, 41)


@pytest.mark.spec("RPT-10")
def test_bold_headings(make_report):
    """Only headings are bold, and only where that is asked for."""
    assert "\x1b" not in told([make_report()])
    bold = told([make_report()], bold=True)
    assert re.sub("\x1b\\[[01]m", "", bold) == told([make_report()])
    assert [line for line in bold.splitlines() if "\x1b" in line] == [
        line for line in bold.splitlines() if re.fullmatch("\x1b\\[1m[a-z0-9 ]+\x1b\\[0m", line)
    ]
