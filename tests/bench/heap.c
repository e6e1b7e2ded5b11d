/* Takes and frees blocks as an image, and says how many nanoseconds a block took: a line "WAY NS".
 *
 * alone: one block at a time. many: 200,000, then they are freed. shuffled: up to 200,000 at once, in no order. deep:
 * one at a time, 40 calls deep. two: one at a time in each of two tasks, of which the slower counts. */
#include <openkal/memory.h>
#include <openkal/stream.h>
#include <openkal/task.h>
#include <openkal/time.h>

#define ROUNDS 7
#define ALONE 500000
#define MANY 200000
#define DEPTH 40
#define TASKS 2

static void *blocks[MANY];

__attribute__((noinline)) static void alone(void)
{
    for (int i = 0; i < ALONE; i++) {
        void *p = kal_alloc(32, 16);

        __asm__ volatile("" ::"r"(p));
        kal_free(p, 32, 16);
    }
}

__attribute__((noinline)) static void many(void)
{
    for (int i = 0; i < MANY; i++)
        blocks[i] = kal_alloc(32, 16);
    for (int i = 0; i < MANY; i++) {
        kal_free(blocks[i], 32, 16);
        blocks[i] = 0;
    }
}

/* Half of the steps take a block, and half free one. */
__attribute__((noinline)) static void shuffled(void)
{
    unsigned seed = 1;

    for (int i = 0; i < 2 * ALONE; i++) {
        unsigned at;

        seed = seed * 1103515245u + 12345u;
        at = (seed >> 8) % MANY;
        if (blocks[at]) {
            kal_free(blocks[at], 32, 16);
            blocks[at] = 0;
        } else {
            blocks[at] = kal_alloc(32 + (seed >> 27), 16);
        }
    }
}

__attribute__((noinline)) static void descend(int depth)
{
    if (depth == 0)
        alone();
    else
        descend(depth - 1);
    __asm__ volatile("");
}

static void deep(void)
{
    descend(DEPTH);
}

static void task(void *unused)
{
    (void)unused;
    alone();
}

static void two(void)
{
    struct kal_task tasks[TASKS];

    for (int i = 0; i < TASKS; i++)
        (void)kal_task_start(task, 0, &tasks[i]);
    for (int i = 0; i < TASKS; i++)
        (void)kal_task_join(tasks[i]);
}

static kal_uintptr length_of(const char *text)
{
    kal_uintptr length = 0;

    while (text[length] != 0)
        length++;
    return length;
}

/* As "NAME 12.3". */
static void say(const char *name, kal_u64 tenths)
{
    char text[24] = {[21] = '.', [23] = '\n'};
    kal_uintptr at = 21;

    text[22] = (char)('0' + tenths % 10);
    do {
        tenths /= 10;
        text[--at] = (char)('0' + tenths % 10);
    } while (tenths >= 10);
    text[--at] = ' ';
    kal_stream_write(kal_stdout(), name, length_of(name));
    kal_stream_write(kal_stdout(), text + at, sizeof text - at);
}

static const struct {
    const char *name;
    void (*run)(void);
    kal_u64 blocks;
} ways[] = {
    {"alone", alone, ALONE}, {"many", many, MANY}, {"shuffled", shuffled, ALONE},
    {"deep", deep, ALONE},   {"two", two, ALONE},
};

int main(void)
{
    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        kal_u64 best = ~(kal_u64)0;

        for (int round = 0; round < ROUNDS; round++) {
            kal_u64 from = kal_time_monotonic(), took;

            ways[i].run();
            took = kal_time_monotonic() - from;
            best = took < best ? took : best;
        }
        say(ways[i].name, 10 * best / ways[i].blocks);
    }
    return 0;
}
