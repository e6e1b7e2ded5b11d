"""
An image that calls every function of the surface, each a number of times that its source fixes.

Arguments are null, zero and words that were never issued: what counts is that the function is
called, and such a call does no harm. There is no start code, so that nothing else is called.
"""

import re
from pathlib import Path

SURFACE = Path(__file__).parents[1] / "okld/iface/surface.txt"
PHASES = ("first", "second", "third", "first")
"""The phases of the script, in order."""

ENDS = ("kal_exit", "kal_abort")
ARGUMENTS = {"kal_prof_phase": "0, 1"}  # without a name: of length 0 it would end the phase
MAIN = """
int _start(void)
{
%s    kal_prof_phase("", 0);
    kal_exit(6);
}
"""
CALLS = """    for (int i = 0; i < %(times)d; i++)
        (void)%(call)s;
"""
ONE_TASK = "    kal_prof_phase(%(name)s, %(length)d);\n    phase_%(at)d(0);\n"
TASKS = """    kal_prof_phase(%(name)s, %(length)d);
    for (int i = 0; i < %(tasks)d; i++)
        kal_task_start(phase_%(at)d, 0, &tasks[i]);
    for (int i = 0; i < %(tasks)d; i++)
        kal_task_join(tasks[i]);
"""


def functions():
    """Return the functions that return, with the arguments of a call that does no harm."""
    found = {}
    for line in SURFACE.read_text().splitlines():
        if line.startswith("function "):
            name, _, parameters = (part.strip() for part in line[len("function ") :].split("|")[:3])
            if name not in ENDS:
                found[name] = ARGUMENTS.get(name, ", ".join(_nothing(parameters)))
    return found


def _nothing(parameters):
    for parameter in re.split(r",(?![^(]*\))", parameters):
        by_value = re.fullmatch(r"(struct \w+) \w+", parameter.strip())
        if parameter:
            yield f"({by_value[1]}){{0}}" if by_value else "0"


def times(function, phase):
    """Return how often a task calls a function in a phase, by their positions."""
    return 1 + (7 * function + 5 * phase) % 11


def source(tasks):
    """Return the image's source: in each phase *tasks* tasks do the same, or its first alone."""
    parts = ["#include <openkal/openkal.h>\n", f"static struct kal_task tasks[{tasks or 1}];\n"]
    steps = []
    for at, name in enumerate(PHASES):
        calls = "".join(
            CALLS % {"times": times(n, at), "call": f"{function}({arguments})"}
            for n, (function, arguments) in enumerate(functions().items())
        )
        parts.append(f"\nstatic void phase_{at}(void* unused)\n{{\n    (void)unused;\n{calls}}}\n")
        known = {"name": f'"{name}"', "length": len(name), "at": at, "tasks": tasks}
        steps.append((TASKS if tasks else ONE_TASK) % known)
    return "".join(parts) + MAIN % "".join(steps)


def counts_of_phases(tasks):
    """Return what the source does, by phase and function: how many calls begin and return."""
    begun = {name: dict.fromkeys(functions(), 0) for name in PHASES}
    for at, name in enumerate(PHASES):
        for n, function in enumerate(functions()):
            begun[name][function] += times(n, at) * (tasks or 1)
        begun[name]["kal_task_start"] += tasks
        begun[name]["kal_task_join"] += tasks
    returned = {name: dict(counts) for name, counts in begun.items()}
    for name in PHASES:
        begun[name]["kal_prof_phase"] += 1  # the call that ends it
        returned[name]["kal_prof_phase"] += 1  # and the one that begins it
    return begun, returned


def hold_to_source(report, tasks, what):
    """Hold a report of that image to its source: every count, in every phase and in total."""
    begun, returned = counts_of_phases(tasks)
    want = {name: sum(counts[name] for counts in begun.values()) for name in functions()}
    want |= {"kal_prof_phase": want["kal_prof_phase"] + 1, "kal_exit": 1}  # outside all phases
    assert _counts(report) == want
    assert report["tasks"] == 1 + tasks * len(PHASES)
    assert [total["name"] for total in report["phase_totals"]] == list(dict.fromkeys(PHASES))
    assert [phase["name"] for phase in report["phases"]] == list(PHASES)
    for total in report["phase_totals"]:
        assert _counts(total) == begun[total["name"]]
        assert total["count"] == PHASES.count(total["name"])
        if what == "calls":
            assert _returned(total) == returned[total["name"]]


def _counts(part):
    return {call["name"]: call["count"] for call in part["calls"]}


def _returned(part):
    return {call["name"]: sum(call["log2_ns"]) for call in part["calls"]}
