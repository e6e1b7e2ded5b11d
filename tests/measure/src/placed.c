/* Says where main is. */
#include <openkal/stream.h>

/* A function without a size, which reaches to the next; one with the name that a compiler made; one that a test renames. */
__asm__(".text\n"
        ".globl unsized\n"
        ".type unsized, %function\n"
        "unsized: nop\n nop\n ret\n"
        ".globl next_one\n"
        ".type next_one, %function\n"
        "next_one: nop\n ret\n"
        ".size next_one, . - next_one\n");

void unsized(void), next_one(void);
void mangled(void) __asm__("_ZN3app4spinEv");

__attribute__((noinline)) void mangled(void)
{
    __asm__ volatile("");
}

__attribute__((noinline)) void to_be_renamed(void)
{
    __asm__ volatile("");
}

static void say_address(kal_uintptr address)
{
    char digits[17];

    for (int i = 15; i >= 0; i--, address >>= 4)
        digits[i] = "0123456789abcdef"[address & 15];
    digits[16] = '\n';
    kal_stream_write(kal_stdout(), digits, sizeof digits);
}

int main(void)
{
    unsized();
    next_one();
    mangled();
    to_be_renamed();
    say_address((kal_uintptr)main);
    return 3;
}
