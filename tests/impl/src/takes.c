/* Takes a block in the first task, and two in another. */
#include <openkal/memory.h>
#include <openkal/task.h>

__attribute__((noinline)) static void *take(kal_uintptr size)
{
    return kal_alloc(size, 16);
}

__attribute__((noinline)) static void work(void *unused)
{
    (void)unused;
    kal_free(take(100), 100, 16);
    (void)take(20);
}

int main(void)
{
    struct kal_task task;

    (void)take(3);
    return kal_task_start(work, 0, &task) == kal_ok && kal_task_join(task) == kal_ok ? 0 : 1;
}
