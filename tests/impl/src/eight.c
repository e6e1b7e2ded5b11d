/* Eight tasks at once, three times, call 1000 times each. */
#include <openkal/abort.h>
#include <openkal/image.h>
#include <openkal/task.h>
#include <openkal/time.h>

OPENKAL_IMAGE_VERSION(KAL_VERSION_MAKE(0, 19, 0), KAL_IFACE_ABORT | KAL_IFACE_TASK | KAL_IFACE_TIME | KAL_IFACE_ENV, 0, 0)

#define TASKS 8
#define ROUNDS 3
#define CALLS 1000

static kal_u32 ready;

static void entry(void* arg)
{
    kal_u32 *started = arg, seen;

    __atomic_add_fetch(started, 1, __ATOMIC_SEQ_CST);
    do
        seen = __atomic_load_n(started, __ATOMIC_SEQ_CST);
    while (seen % TASKS);
    for (int i = 0; i < CALLS; i++)
        kal_time_monotonic();
}

int main(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct kal_task tasks[TASKS];

        for (int i = 0; i < TASKS; i++) {
            if (kal_task_start(entry, &ready, &tasks[i]) != kal_ok)
                return 1;
        }
        for (int i = 0; i < TASKS; i++) {
            if (kal_task_join(tasks[i]) != kal_ok)
                return 2;
        }
    }
    kal_exit(0);
}
