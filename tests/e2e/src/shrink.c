/* Says "ready", reads a byte in a function without a frame, and crashes there. Its caller is code of a later page, which
 * is gone when somebody cuts the file meanwhile. For x86-64 alone. */
#include <openkal/stream.h>

#include "text.h"

__attribute__((naked, noinline, aligned(0x4000))) static void read_and_crash(struct kal_stream in, void* to,
                                                                             kal_uintptr size)
{
    __asm__("sub $8, %rsp\n"
            "call *kal_stream_read@GOTPCREL(%rip)\n"
            "add $8, %rsp\n"
            "movl $1, 16\n");
}

__attribute__((noinline, aligned(0x4000))) static char call_it(void)
{
    char byte = 0;

    read_and_crash(kal_stdin(), &byte, 1);
    return byte;
}

int main(void)
{
    say("ready\n");
    return call_it();
}
