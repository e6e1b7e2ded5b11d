"""
A shell with job control, of one job: ``shell.py COMMAND...``.

It runs the command in the foreground and in a group of its own, writes what becomes of it, and
goes on with it, in the foreground, when it reads a line while that is stopped.
"""

import os
import signal
import sys

signal.signal(signal.SIGTTOU, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execvp(sys.argv[1], sys.argv[1:])
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status):
        break
    print("shell: stopped", flush=True)
    sys.stdin.readline()
    os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)
print(f"shell: ended {os.waitstatus_to_exitcode(status)}", flush=True)
