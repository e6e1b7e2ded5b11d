"""The images that are measured, built anew from sources that fix what they print."""

from __future__ import annotations

from pathlib import Path

from okld.sdk.build import build

RODATA_MIB = 64
HELLO = """
#include <openkal/openkal.h>
int main(void) { return kal_stream_write(kal_stdout(), "hello\\n", 6) != 6; }
"""
RODATA = """
#include <openkal/openkal.h>
__asm__(".section .rodata.large,\\"a\\"\\n.globl large\\n"
        "large: .fill %d, 1, 7\\n.previous");
extern const char large[];
int main(void) { return large[0] != 7 || kal_stream_write(kal_stdout(), "hello\\n", 6) != 6; }
"""


def _build(work: Path, name: str, text: str) -> Path:
    source = work / f"{name}.c"
    source.write_text(text)
    build([source], work / f"{name}.ok")
    return work / f"{name}.ok"


def hello(work: Path) -> Path:
    """An image that prints one line."""
    return _build(work, "hello", HELLO)


def rodata(work: Path, mib: int = RODATA_MIB) -> Path:
    """The same with some MiB of read-only data, of which it touches a byte."""
    image = _build(work, f"rodata{mib}", RODATA % (mib << 20))
    assert image.stat().st_size > mib << 20
    return image


def pointers(work: Path, count: int) -> Path:
    """An image of *count* relative relocations: no imports, and status 0 when all of them hold."""
    return _build(
        work,
        f"pointers{count}",
        f"""
static char target[{count}];
#define COUNT {count}
extern char* const table[COUNT];
__asm__(".section .data.rel.ro,\\"aw\\"\\n.balign 8\\ntable: .set i, 0\\n"
        ".rept {count}\\n.quad target + i\\n.set i, i + 1\\n.endr\\n.previous");
int _start(void)
{{
    int wrong = 0;
    for (long i = 0; i < COUNT; i++)
        wrong |= table[i] != target + i;
    return wrong;
}}
""",
    )
