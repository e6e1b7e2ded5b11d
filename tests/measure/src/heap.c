/* heap WAY: takes blocks in ways that a test knows, in functions whose names it knows.
 *
 * script: as `script` says. tasks: eight tasks, each 1,000 blocks that are freed and 3 that are not. crash, exit, abort:
 * how it ends, with one block. spin: takes and frees until it is ended. deep: blocks of 200 depths. many: as many as
 * there are, up to a million, and says how many; then none. descriptors: opens files until it may not, then a block.
 * props: ends with what is measured. */
#include <openkal/abort.h>
#include <openkal/env.h>
#include <openkal/fs.h>
#include <openkal/memory.h>
#include <openkal/prof.h>
#include <openkal/task.h>

#include "../../e2e/src/text.h"

#define TASKS 8
#define ROUNDS 1000
#define KEPT 3
#define DEPTHS 200
#define MOST 1000000

static volatile int *nowhere;

__attribute__((noinline)) static void *small(void)
{
    return kal_alloc(24, 8);
}

__attribute__((noinline)) static void *large(void)
{
    return kal_alloc(1000, 64);
}

/* 5 of 24 bytes and 2 of 1,000: the peak. */
__attribute__((noinline)) static void first(void **kept)
{
    for (int i = 0; i < 5; i++)
        kept[i] = small();
    for (int i = 5; i < 7; i++)
        kept[i] = large();
}

/* 3 of 24 bytes, while one of the large ones is not alive. */
__attribute__((noinline)) static void second(void **kept)
{
    kal_free(kept[5], 1000, 64);
    for (int i = 7; i < 10; i++)
        kept[i] = small();
    for (int i = 6; i < 10; i++)
        kal_free(kept[i], i == 6 ? 1000 : 24, i == 6 ? 64 : 8);
}

/* 4 of 24 bytes, of which 2 stay; nothing for a size of 0 and for null. */
__attribute__((noinline)) static void third(void **kept)
{
    for (int i = 5; i < 9; i++)
        kept[i] = small();
    kal_free(kept[5], 24, 8);
    kal_free(kept[6], 24, 8);
    kal_free(kal_alloc(0, 8), 0, 8);
    kal_free(0, 24, 8);
}

__attribute__((noinline)) static void script(void)
{
    void *kept[10];

    first(kept);
    second(kept);
    third(kept);
}

__attribute__((noinline)) static void work(void *number)
{
    kal_uintptr size = 16 + (kal_uintptr)number;

    for (int i = 0; i < ROUNDS; i++)
        kal_free(kal_alloc(size, 16), size, 16);
    for (int i = 0; i < KEPT; i++)
        (void)kal_alloc(size, 16);
}

static void tasks(void)
{
    struct kal_task task[TASKS];

    for (kal_uintptr i = 0; i < TASKS; i++) {
        if (kal_task_start(work, (void *)i, &task[i]) != kal_ok)
            kal_exit(9);
    }
    for (int i = 0; i < TASKS; i++)
        (void)kal_task_join(task[i]);
}

__attribute__((noinline)) static void deep(int depth)
{
    if (depth == 0)
        (void)small();
    else
        deep(depth - 1);
    __asm__ volatile("");
}

__attribute__((noinline)) static void many(void)
{
    static void *taken[MOST];
    kal_uintptr count = 0;

    while (count < MOST && (taken[count] = small()) != 0)
        count++;
    for (kal_uintptr i = 0; i < count; i++)
        kal_free(taken[i], 24, 8);
    say_number(count);
}

static void descriptors(void)
{
    struct kal_dir base, again;
    kal_uintptr length;

    if (kal_fs_preopen(0, &base, 0, 0, &length) != kal_ok)
        kal_exit(9);
    while (kal_fs_open_dir(base, ".", 1, &again) == kal_ok)
        ;
    (void)small();
}

static void all_depths(void)
{
    for (int depth = 0; depth < DEPTHS; depth++)
        deep(depth);
}

static void spin(void)
{
    say("begun\n");
    for (;;)
        kal_free(small(), 24, 8);
}

static void crash(void)
{
    (void)small();
    *nowhere = 1;
}

static void leave(void)
{
    (void)small();
    kal_exit(5);
}

static void give_up(void)
{
    (void)small();
    kal_abort("", 0);
}

static void props(void)
{
    kal_exit((int)kal_prof_props());
}

static const struct {
    const char *name;
    void (*go)(void);
} ways[] = {
    {"script", script}, {"tasks", tasks}, {"crash", crash}, {"exit", leave},  {"abort", give_up},
    {"spin", spin},     {"deep", all_depths}, {"many", many},   {"props", props}, {"descriptors", descriptors},
};

int main(void)
{
    char way[16] = {0};

    (void)kal_env_arg(1, way, sizeof way - 1);
    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (same(way, ways[i].name))
            ways[i].go();
    }
    return 0;
}
