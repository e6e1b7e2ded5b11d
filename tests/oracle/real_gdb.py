"""
Run by gdb, with a file: print for each address on standard input the names of what it is in, of
inlined functions and the one they are in. gdb reads the alternate file of debug information, which
llvm-symbolizer does not.
"""

import json
import sys

import gdb

for line in sys.stdin:
    names = []
    block = gdb.block_for_pc(int(line, 16))
    while block is not None and not block.is_static and not block.is_global:
        if block.function is not None:
            names.append(block.function.linkage_name)
        block = block.superblock
    print(json.dumps(names))
