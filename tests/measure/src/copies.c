/* Starts a copy of itself, which says so; both take blocks, and wait for the end of their input. */
#include <openkal/memory.h>
#include <openkal/process.h>
#include <openkal/space.h>
#include <openkal/stream.h>

#define SIZE 65536

static _Alignas(16) char stack[SIZE];
static void *kept[3];

__attribute__((noinline)) static void *take(unsigned size)
{
    return kal_alloc(size, 16);
}

static void copy(void *unused)
{
    char byte;

    (void)unused;
    kal_free(kept[0], 100, 16); /* the original's: none of the copy's own */
    for (int i = 0; i < 4; i++)
        kept[1] = take(1000);
    kal_free(kept[1], 1000, 16);
    kal_stream_write(kal_stdout(), "copy\n", 5);
    (void)kal_stream_read(kal_stdin(), &byte, 1);
}

int main(void)
{
    struct kal_process process;
    int status, terminated;
    char byte;

    kept[0] = take(100);
    kept[2] = take(10);
    if (kal_space_start(copy, 0, stack + SIZE, &process) != kal_ok)
        return 1;
    (void)kal_stream_read(kal_stdin(), &byte, 1);
    return kal_process_wait(process, &status, &terminated) == kal_ok ? status : 2;
}
