/* openkal.task: threads of this process.                                                      SPEC: TASK-1 to TASK-6 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <openkal/task.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "../load.h"
#include "../measure.h"
#include "copied.h"
#include "handle.h"
#include "sys.h"
#include "wait.h"

#define SECOND UINT64_C(1000000000)
#define MOST_CPUS ((size_t)64 * CPU_SETSIZE) /* a kernel for more than CPU_SETSIZE refuses a smaller set */
#define SPARES 4
#define HOST_STACK ((size_t)128 << 10) /* of the thread itself, which does little but to call the image */

struct task {
    pthread_t thread;
    void (*entry)(void *);
    void *arg, *counts;
    struct stack stack; /* that entry runs on: the image has all of it, and nothing of the host is in its reach */
    struct task *joins; /* the one that it is joining, or null */
    bool joined;        /* by somebody, or being so */
};

static _Thread_local struct task *own_task; /* the caller's, or null: the first one has none */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of joins and joined, and of spares */
FREE_IN_COPIES(lock)

/* Stacks of tasks that have ended: to make one takes as long as everything else of a start. */
static struct stack spares[SPARES];
static size_t spare_count;

static bool take_stack(struct stack *stack)
{
    struct refusal why;
    bool spare;

    pthread_mutex_lock(&lock);
    spare = spare_count > 0;
    if (spare)
        *stack = spares[--spare_count];
    pthread_mutex_unlock(&lock);
    return spare || map_stack(host_image.plan->header->stack, &stack->lo, &stack->hi, &why);
}

static void give_back_stack(const struct stack *stack)
{
    bool spare;

    pthread_mutex_lock(&lock);
    spare = spare_count < SPARES;
    if (spare)
        spares[spare_count++] = *stack;
    pthread_mutex_unlock(&lock);
    if (!spare)
        unmap_stack(stack->lo, stack->hi);
}

/* What a task has beside its place in memory. Ensures: true, or false and there is no memory. */
static bool take(struct task *task)
{
    task->counts = measure_thread_new();
    return task->counts && take_stack(&task->stack);
}

static void give_back(struct task *task)
{
    if (task->stack.lo)
        give_back_stack(&task->stack);
    if (task->counts)
        measure_thread_end(task->counts);
}

static void *run(void *argument)
{
    struct task *task = argument; /* nobody frees it before this thread has ended */

    own_task = task;
    host_stack = task->stack;
    fault_thread_begin();
    measure_thread_begin(task->counts);
    (void)enter((uintptr_t)task->entry, host_stack.hi, task->arg);
    fault_thread_end();
    give_back(task);
    return NULL;
}

/* In a copy, whose first task the caller is: that of the original is none of the copy's. */
static void forget_own_task(void)
{
    own_task = NULL;
}

__attribute__((constructor)) static void forget_in_copies(void)
{
    (void)pthread_atfork(NULL, NULL, forget_own_task);
}

static void end_task(struct handle *handle)
{
    free(handle->state);
}

static int create(struct task *task)
{
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);

    if (error != 0)
        return error;
    error = pthread_attr_setstacksize(&attributes, HOST_STACK);
    if (error == 0)
        error = pthread_create(&task->thread, &attributes, run, task);
    pthread_attr_destroy(&attributes);
    return error;
}

/* Ensures:  a task on a stack of its own, of the size of the first one's and with a guard below it; kal_err_invalid for
 *           a null pointer, kal_err_no_memory where there is no memory for it or too many run.
 * SPEC: TASK-1, TASK-3 */
int kal_task_start(void (*entry)(void *), void *arg, struct kal_task *out)
{
    struct task *task;
    kal_uintptr word = 0;

    if (entry == NULL || out == NULL)
        return kal_err_invalid;
    task = malloc(sizeof *task);
    if (task == NULL)
        return kal_err_no_memory;
    *task = (struct task){.entry = entry, .arg = arg};
    if (take(task))
        word = handle_new(HANDLE_TASK, -1, task, end_task);
    if (word != 0 && create(task) == 0) {
        out->h = word;
        return kal_ok;
    }
    give_back(task);
    if (word != 0)
        (void)handle_close(HANDLE_TASK, word);
    else
        free(task);
    return kal_err_no_memory;
}

/* Whether a task would wait for itself, by way of whatever number of others.
 * Requires: the lock is held: a task that is being joined is there as long as its joiner says so. */
static bool is_waited_for(const struct task *task)
{
    while (task != NULL && task != own_task)
        task = task->joins;
    return task != NULL;
}

/* Take a task to be joined by the caller; false where that cannot be. */
static bool begin_join(struct task *task)
{
    bool ours;

    pthread_mutex_lock(&lock);
    ours = !task->joined && !is_waited_for(task);
    if (ours) {
        task->joined = true;
        if (own_task != NULL)
            own_task->joins = task;
    }
    pthread_mutex_unlock(&lock);
    return ours;
}

static void end_join(void)
{
    pthread_mutex_lock(&lock);
    if (own_task != NULL)
        own_task->joins = NULL;
    pthread_mutex_unlock(&lock);
}

/* Wait for a task's end, and take its word back.
 * Ensures:  kal_err_invalid, and the word stays, for one that another joins already and for one that waits for the
 *           caller, the caller's own among them; and for a word that is no task.                  SPEC: TASK-2 */
int kal_task_join(struct kal_task word)
{
    struct handle *handle = handle_get(HANDLE_TASK, word.h);
    struct task *task = handle ? handle->state : NULL;
    int error = kal_err_invalid;

    if (handle == NULL)
        return kal_err_invalid;
    if (begin_join(task)) {
        pthread_join(task->thread, NULL);
        end_join();
        error = handle_close(HANDLE_TASK, word.h);
    }
    handle_put(handle);
    return error;
}

void kal_task_yield(void)
{
    sched_yield();
}

kal_uintptr kal_task_current(void)
{
    return (kal_uintptr)pthread_self();
}

/* How many processors this program may use.                                                        SPEC: TASK-6 */
kal_uintptr kal_task_parallelism(void)
{
    cpu_set_t *set;
    kal_uintptr count = 0;

    for (size_t cpus = CPU_SETSIZE; count == 0 && cpus <= MOST_CPUS; cpus *= 2) {
        size_t size = CPU_ALLOC_SIZE(cpus);

        set = CPU_ALLOC(cpus);
        if (set == NULL)
            break;
        if (sched_getaffinity(0, size, set) == 0)
            count = (kal_uintptr)CPU_COUNT_S(size, set);
        CPU_FREE(set);
    }
    return count != 0 ? count : 1;
}

/* Ensures:  the lowest address and the size of the stack that the caller runs on, guard left out. SPEC: TASK-3 */
int kal_task_stack(void **base, kal_uintptr *size)
{
    if (base == NULL || size == NULL)
        return kal_err_invalid;
    *base = host_stack.lo;
    *size = (kal_uintptr)((char *)host_stack.hi - (char *)host_stack.lo);
    return kal_ok;
}

static bool is_word(const kal_u32 *word)
{
    return word != NULL && (uintptr_t)word % sizeof *word == 0;
}

/* Sleep while *word is expected. The word is this address space's: a task that waits on a mapped file's is not woken by
 * another program, nor by a copy of this one.
 * Ensures:  kal_ok when it was woken, or found another value; it can be woken for nothing. kal_err_again when the time
 *           has passed. kal_err_invalid for what can be no word. Interruptions neither end it nor make it longer.
 * SPEC: TASK-4 */
int kal_task_wait(const kal_u32 *word, kal_u32 expected, kal_u64 timeout_ns)
{
    wait_end end = wait_until(timeout_ns);
    const struct timespec at = {.tv_sec = (time_t)(end / SECOND), .tv_nsec = (long)(end % SECOND)};

    if (!is_word(word))
        return kal_err_invalid;
    for (;;) {
        if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, end == WAIT_FOREVER ? NULL : &at, NULL,
                    FUTEX_BITSET_MATCH_ANY) == 0 ||
            errno == EAGAIN)
            return kal_ok;
        if (errno != EINTR)
            return sys_error(errno);
    }
}

/* Wake up to count tasks that wait on word; how many were woken is *woken, which may be null. SPEC: TASK-4 */
int kal_task_wake(const kal_u32 *word, kal_uintptr count, kal_uintptr *woken)
{
    long n = 0;

    if (!is_word(word))
        return kal_err_invalid;
    if (count != 0) /* the kernel takes 0 for 1 */
        n = syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count < INT_MAX ? (int)count : INT_MAX, NULL, NULL, 0);
    if (n < 0)
        return sys_error(errno);
    if (woken)
        *woken = (kal_uintptr)n;
    return kal_ok;
}

/* Images have no thread-local storage (IMG rules), so that bit is not set. */
kal_uintptr kal_task_props(void)
{
    return KAL_TASK_PROP_PREEMPTIVE | KAL_TASK_PROP_PARALLEL | KAL_TASK_PROP_WAIT_TIMEOUT;
}
