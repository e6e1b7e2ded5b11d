"""Sources and targets of the tests of debug files."""

from __future__ import annotations

SOURCE = """
static int shared(int x) { return x * 3; }
__attribute__((section("one_code"))) int one(int x) { return shared(x) + 1; }
__attribute__((section("two_code"))) int two(int x)
{
    for (int i = 0; i < x; i++)
        x += one(i);
    return x;
}
__attribute__((section("table_data"))) int table[3] = {1, 2, 3};
__attribute__((section("pointer_data"))) int *pointer = table;
__attribute__((section("zeros_data"))) int zeros[5];
int main(void) { return two(zeros[1]) + *pointer; }
"""

COMPILERS = {
    "x86-64": ["gcc"],
    "i386": ["clang-19", "--target=i386-linux-gnu"],
    "AArch64": ["aarch64-linux-gnu-gcc"],
    "ARM": ["arm-linux-gnueabihf-gcc"],
    "ppc": ["clang-19", "--target=powerpc-linux-gnu"],
    "ppc64": ["powerpc64-linux-gnu-gcc", "-mabi=elfv2"],
    "mips": ["mips-linux-gnu-gcc"],
    "mips64el": ["clang-19", "--target=mips64el-linux-gnuabi64"],
    "s390x": ["s390x-linux-gnu-gcc"],
    "riscv64": ["riscv64-linux-gnu-gcc"],
    "riscv64, clang": ["clang-19", "--target=riscv64-linux-gnu", "-mrelax"],
}
"""Compilers of every class and byte order, and of every form of relocation."""
