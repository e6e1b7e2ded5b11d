"""
A command that writes the names of the signals it is sent: ``told.py [NUMBER...]``.

It begins with its own number, and ends, with status 7, at SIGUSR2 or when its input ends.
"""

import os
import select
import signal
import sys

sent, say = os.pipe()
os.set_blocking(say, False)
signal.set_wakeup_fd(say)
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    if number not in map(int, sys.argv[1:]):
        signal.signal(number, lambda *_: None)
print(os.getpid(), flush=True)
while True:
    ready, _, _ = select.select([sent, 0], [], [])
    if sent in ready:
        for number in os.read(sent, 100):
            print(signal.Signals(number).name, flush=True)
            if number == signal.SIGUSR2:
                sys.exit(7)
    elif not os.read(0, 100):
        sys.exit(7)
