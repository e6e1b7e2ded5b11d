/* openkal.task of the native host: waiting and waking.                                                  SPEC: TASK-4 */
#define _GNU_SOURCE
#include "kal_task.h"

#include <limits.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interrupt.h"

#define HANDOFFS 20000
#define SECOND UINT64_C(1000000000)

static uint64_t now(void)
{
    struct timespec t;

    CHECK(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void as_many_are_woken_as_is_said(void)
{
    struct kal_task tasks[3];
    struct crowd m = {0};
    kal_uintptr woken = 77;

    for (int i = 0; i < 3; i++)
        tasks[i] = started(wait_once, &m);
    wake_in_all(&m, 1, 1);
    CHECK(kal_task_wake(&m.word, 0, &woken) == kal_ok && woken == 0);
    CHECK(kal_task_wake(&m.word, 0, NULL) == kal_ok);
    pause_for(5 * MILLISECOND);
    CHECK(__atomic_load_n(&m.returned, __ATOMIC_SEQ_CST) <= 1);
    wake_in_all(&m, 2, 2);
    for (int i = 0; i < 3; i++)
        join(tasks[i]);
    CHECK(m.returned == 3);
    CHECK(kal_task_wake(&m.word, (kal_uintptr)INT_MAX + 1, &woken) == kal_ok && woken == 0);
}

static void what_is_no_word_is_refused(void)
{
    kal_u32 words[2] = {0, 0};
    const kal_u32 *odd = (const kal_u32 *)(void *)((char *)words + 1), *volatile nowhere = (const kal_u32 *)16;
    kal_uintptr woken = 77;

    CHECK(kal_task_wait(NULL, 0, 1) == kal_err_invalid && kal_task_wake(NULL, 1, &woken) == kal_err_invalid);
    CHECK(kal_task_wait(odd, 0, 1) == kal_err_invalid && kal_task_wake(odd, 1, &woken) == kal_err_invalid);
    CHECK(kal_task_wait(nowhere, 0, 1) == kal_err_invalid);
    CHECK(woken == 77);
}

static void a_wait_ends_at_its_time(void)
{
    static const uint64_t times[] = {1, 1000, 20 * MILLISECOND, 3 * MILLISECOND + 7};
    kal_u32 word = 5;

    CHECK(kal_task_wait(&word, 4, 0) == kal_ok); /* another value: there is nothing to wait for */
    CHECK(kal_task_wait(&word, 4, UINT64_MAX) == kal_ok);
    interrupt(true);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        uint64_t start = now();

        CHECK(kal_task_wait(&word, 5, times[i]) == kal_err_again && now() - start >= times[i]);
    }
    interrupt(false);
}

static void set_late(void *argument)
{
    pause_for(20 * MILLISECOND);
    set(argument, 1);
}

/* Neither no bound nor the largest ends before the word changes, interrupted or not. */
static void a_wait_has_no_end_of_its_own(void)
{
    static const uint64_t bounds[] = {0, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX / 2};

    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        kal_u32 word = 0;
        struct kal_task task = started(set_late, &word);

        interrupt(true);
        CHECK(kal_task_wait(&word, 0, bounds[i]) == kal_ok);
        wait_while(&word, 0);
        interrupt(false);
        join(task);
    }
}

static void hand_back(void *argument)
{
    kal_u32 *ball = argument;

    for (kal_u32 i = 0; i < HANDOFFS; i++) {
        wait_while(ball, 2 * i);
        set(ball, 2 * i + 2);
    }
}

/* A wake-up that is missed is one that never comes: the test does not end. */
static void no_wake_up_is_missed(void)
{
    kal_u32 ball = 0;
    struct kal_task task = started(hand_back, &ball);

    interrupt(true);
    for (kal_u32 i = 0; i < HANDOFFS; i++) {
        set(&ball, 2 * i + 1);
        wait_while(&ball, 2 * i + 1);
    }
    interrupt(false);
    join(task);
    CHECK(ball == 2 * HANDOFFS);
}

/* A word in memory that two processes share is for each a word of its own. */
static void waiting_is_of_one_address_space(void)
{
    kal_u32 *word = mmap(NULL, sizeof *word, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    kal_uintptr woken;
    int status;
    pid_t pid;

    CHECK(word != MAP_FAILED);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        _exit(kal_task_wait(word, 0, 100 * MILLISECOND) == kal_err_again ? 0 : 1);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        CHECK(kal_task_wake(word, 1, &woken) == kal_ok && woken == 0);
        kal_task_yield();
    }
    CHECK(status == 0);
}

int main(void)
{
    as_many_are_woken_as_is_said();
    what_is_no_word_is_refused();
    a_wait_ends_at_its_time();
    a_wait_has_no_end_of_its_own();
    no_wake_up_is_missed();
    waiting_is_of_one_address_space();
    return 0;
}
