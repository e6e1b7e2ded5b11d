/* crash: main calls crash_one, which calls crash_two, which calls crash_three, which writes to address 16: SIGSEGV.
 * The script crash.ld puts the three at 0x2001000, 0x2001100 and 0x2001200. */

#include <openkal/image.h>

OPENKAL_IMAGE(KAL_IFACE_ENV, 0, 0)

#define PLACED(name) __attribute__((noinline, section(".text." name)))

/* What stands after a call keeps it from being the last thing done, which a compiler would make a jump. */
#define AFTER_CALL __asm__ volatile("")

void crash_one(int* at);
void crash_two(int* at);
void crash_three(int* at);

PLACED("crash_three") void crash_three(int* at)
{
    *(volatile int*)at = 1;
}

PLACED("crash_two") void crash_two(int* at)
{
    crash_three(at);
    AFTER_CALL;
}

PLACED("crash_one") void crash_one(int* at)
{
    crash_two(at);
    AFTER_CALL;
}

int main(void)
{
    int* at = (int*)16;

    __asm__("" : "+r"(at)); /* else the compiler sees the fault and drops the calls */
    crash_one(at);
    AFTER_CALL;
    return 0;
}
