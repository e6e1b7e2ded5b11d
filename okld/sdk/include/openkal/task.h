/* openkal.task: Threads. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_TASK_H
#define OPENKAL_TASK_H

#include "types.h"

/* A task, owned until joined. */
struct kal_task {
    kal_uintptr h; /* The handle; 0 is never issued. */
};
KAL_STATIC_ASSERT(sizeof(struct kal_task) == 8, "kal_task: size");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_task, h) == 0, "kal_task.h: offset");

#define KAL_TASK_PROP_PREEMPTIVE ((kal_uintptr)1<<0) /* A task that does not yield is interrupted. */
#define KAL_TASK_PROP_PARALLEL ((kal_uintptr)1<<1) /* Tasks run at the same time. */
#define KAL_TASK_PROP_WAIT_TIMEOUT ((kal_uintptr)1<<2) /* kal_task_wait honours its bound. */
#define KAL_TASK_PROP_THREAD_LOCAL ((kal_uintptr)1<<3) /* Each task has thread-local storage of its own. */

#ifdef __cplusplus
extern "C" {
#endif

/* Start a task that calls entry(arg). */
int kal_task_start(void (*entry)(void*), void* arg, struct kal_task* out);

/* Wait for its end. */
int kal_task_join(struct kal_task task);

/* Let another task run. */
void kal_task_yield(void);

/* A number that only the calling task has. */
kal_uintptr kal_task_current(void);

/* How many tasks can run at the same time. */
kal_uintptr kal_task_parallelism(void);

/* The caller's own stack. */
int kal_task_stack(void** base, kal_uintptr* size);

/* Sleep while *word is expected, until woken; 0: no timeout. */
int kal_task_wait(const kal_u32* word, kal_u32 expected, kal_u64 timeout_ns);

/* Wake up to count tasks that wait on word. */
int kal_task_wake(const kal_u32* word, kal_uintptr count, kal_uintptr* woken);

/* KAL_TASK_PROP_ bits. */
kal_uintptr kal_task_props(void);

#ifdef __cplusplus
}
#endif

#endif
