/* tasks WAY: what eight tasks do while the first one ends the program, or waits for them.
 *
 *     sleep    they sleep for an hour, and it returns 7
 *     call     they call without end, and it returns 7
 *     crash    the same, and one of them reads what is not there
 *     wait     each sleeps for 200 ms, and it joins them one after the other, and returns 7 */
#include <openkal/memory.h>
#include <openkal/prof.h>
#include <openkal/task.h>
#include <openkal/time.h>

#include "text.h"

#define TASKS 8
#define MANY 1000

static struct kal_task tasks[TASKS];
static volatile kal_u64 calls[TASKS];
static volatile int crashes;

static void sleep_long(void* unused)
{
    (void)unused;
    kal_time_sleep(3600000000000);
}

static void sleep_a_little(void* unused)
{
    (void)unused;
    kal_time_sleep(200000000);
}

static void call(void* own)
{
    for (;;) {
        kal_memory_granularity();
        ++*(volatile kal_u64*)own;
        if (crashes && own == &calls[0])
            *(volatile int*)8 = 1;
    }
}

static void start_all(void (*entry)(void*))
{
    for (int i = 0; i < TASKS; i++)
        kal_task_start(entry, (void*)&calls[i], &tasks[i]);
}

static void wait_for_calls(void)
{
    for (int i = 0; i < TASKS; i++) {
        while (calls[i] < MANY)
            kal_task_yield();
    }
}

int main(int argc, char** argv)
{
    const char* way = argc > 1 ? argv[1] : "";

    kal_prof_phase("all", 3);
    if (same(way, "sleep")) {
        start_all(sleep_long);
        kal_time_sleep(200000000);
    } else if (same(way, "wait")) {
        start_all(sleep_a_little);
        for (int i = 0; i < TASKS; i++)
            kal_task_join(tasks[i]);
    } else {
        start_all(call);
        wait_for_calls();
        crashes = same(way, "crash");
        while (crashes)
            kal_task_yield();
    }
    return 7;
}
