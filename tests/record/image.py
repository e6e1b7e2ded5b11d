"""
What stands in for an image: ``image.py NAME [CODE]`` begins a report, executes CODE and ends it.

As the host does it: SPEC 12.4. The report's other edits may come from CODE, as keys of `report`.
"""

import fcntl
import os
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from reporting import HEAP, encode, report_object  # noqa: F401 - HEAP is for CODE

what, _, folder = os.environ["OKRUN_PROF"].partition(":")
now = time.time_ns()
report = report_object(
    id=f"{now:x}-{os.getpid()}-{os.urandom(8).hex()}",
    run=os.environ["OKRUN_PROF_RUN"],
    image={"path": sys.argv[1], "build_id": None, "arch": "x86_64"},
    pid=os.getpid(),
    what=what.split(","),
    started_ns=now,
)
begun = Path(folder, f".okprof-{report['id']}.part")
with open(begun, "xb", buffering=0) as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    file.write(encode(report).partition(b"\n")[0] + b"\n")
    exec(sys.argv[2] if sys.argv[2:] else "")
    file.write(encode(report).partition(b"\n")[2])
    begun.rename(Path(folder, f"okprof-{report['id']}.json"))
