"""Execute in an environment of any words: ``environ.py COUNT WORDS... PROGRAM ARGS...``."""

import ctypes
import os
import sys

count = int(sys.argv[1])
words = list(map(os.fsencode, sys.argv[2:]))
environment, program = words[:count], words[count:]


def array(of):
    return (ctypes.c_char_p * (len(of) + 1))(*of)


ctypes.CDLL(None).execve(program[0], array(program), array(environment))
