"""Traps of logs: 7, 43 and 44."""

from __future__ import annotations

from pathlib import Path

from trap_question import Question, Said, trap
from trap_shop import Shop, at, place

from okld.base.units import LinkAddr

KERNEL = ("-O1", "-g", "-mcmodel=kernel", "-fno-pic", "-no-pie", "-nostdlib", "-static")
TEXT = 0xFFFFFFFF81000000
SHIFT = 0x1C200000  # by which the kernel of trap 44 was moved when it started


@trap(7, "a return address that is the start of the next function")
def returned(shop: Shop) -> list[Question]:
    words = ("-O1", "-g", "-falign-functions=1", "-nostdlib", "-static", "-no-pie")
    path = shop.cc("noreturn.elf", *words, "-Wl,--build-id=none", "noreturn.c")
    die, behind = at(path, "die"), at(path, "next")
    assert behind == at(path, "caller", 5)  # the call is all that caller() is
    log = (
        f"#0  0x{die:016x} in ?? ()\n#1  0x{behind:016x} in ?? ()\n"
        f"#2  <signal handler called>\n#3  0x{behind:016x} in ?? ()\n"
    )
    called = Said(("caller",), None, (place("noreturn.c", "    die();"),))
    stopped = Said(("next",))
    first = Said(("die",), None, (place("noreturn.c", "for (;;)"),))
    options = (str(path),)
    return [
        Question(path, LinkAddr(die), first, log=log, words=options),
        Question(path, LinkAddr(behind), called, log=log, row=1, words=options),
        Question(path, LinkAddr(behind), stopped, log=log, row=3, words=options),
    ]


def kernel(shop: Shop) -> Path:
    text = f"-Wl,-Ttext={TEXT:#x}"
    return shop.cc("vmlinux", *KERNEL, text, "dup_one.c", "dup_two.c")


@trap(43, "two functions of one name in a kernel log: the size tells which")
def twins(shop: Shop) -> list[Question]:
    path = kernel(shop)
    sizes = shop.run("nm", "-S", path).decode().splitlines()
    rows = sorted(row.split() for row in sizes if row.endswith(" dup"))
    assert [int(row[1], 16) for row in rows] == [9, 25]
    questions = []
    for row, source in zip(rows, ("dup_one.c", "dup_two.c"), strict=True):
        log = f"[   12.345678] RIP: 0010:dup+0x1/0x{int(row[1], 16):x}\n"
        want = Said(("dup",), None, (place(source, ".fill"),))
        address = LinkAddr(int(row[0], 16) + 1)
        words = ("--module", f"vmlinux={path}")
        questions.append(Question(path, address, want, log=log, words=words, tools=False))
    return questions


@trap(44, "a kernel that was moved, and its modules, which are relocatable")
def moved(shop: Shop) -> list[Question]:
    path = kernel(shop)
    module = shop.cc("trapmod.ko", "-c", "-O1", "-g", "module.c")
    entry = at(path, "entry_two")
    head = f"[    9.000000] Kernel Offset: {SHIFT:#x} from {TEXT:#x} (relocation range: 0x0-0x0)\n"
    raw = f"[   12.345679]  [<{entry + SHIFT + 5:016x}>] ? 0x{entry + SHIFT + 5:x}\n"
    named = "[   12.345680]  entry_two+0x5/0x6\n"
    inside = "[   12.345681]  module_fault+0x3/0xd [trapmod]\n"
    words = ("--module", f"vmlinux={path}", "--module", f"trapmod={module}")
    called = Said(("entry_two",), None, (place("dup_two.c", "    dup();"),))
    fault = Said(("module_fault",), None, (place("module.c", ".fill 10"),))

    def question(log: str, want: Said, row: int = 0) -> Question:
        address = LinkAddr(entry + 5)
        return Question(path, address, want, log=log, row=row, words=words, tools=False)

    return [question(named, called), question(head + raw, called, 1), question(inside, fault)]
