/* The native implementation as a library: in place of the runner, which the files of okrun/host/kal stand on in okhost,
 * is what okrun tells a library (okrun/impl.h). */
#define _GNU_SOURCE
#include <okrun/impl.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "fault.h"
#include "load.h"
#include "measure.h"

struct image host_image;

/* The runner finds out by itself which threads call, how the process ends and that it was copied. */
void *measure_thread_new(void)
{
    return &host_image;
}

void measure_thread_begin(void *counts)
{
    (void)counts;
}

void measure_thread_end(void *counts)
{
    (void)counts;
}

void measure_copied(void)
{
}

void measure_end(enum end_by by, int status, int signal_number)
{
    (void)by;
    (void)status;
    (void)signal_number;
}

void fault_thread_begin(void)
{
}

void fault_thread_end(void)
{
}

void fault_copied(void)
{
}

void fault_watch_all(void)
{
}

/* enter() of the runner keeps the stack pointer in a place that a library cannot have. */
static _Thread_local struct {
    ucontext_t caller, own;
    int (*function)(void *);
    void *argument;
    int result;
} call;

static void on_stack(void)
{
    call.result = call.function(call.argument);
}

int enter(uintptr_t function, void *stack_top, void *argument)
{
    call.function = (int (*)(void *))function;
    call.argument = argument;
    getcontext(&call.own);
    call.own.uc_stack.ss_sp = host_stack.lo;
    call.own.uc_stack.ss_size = (size_t)((char *)stack_top - (char *)host_stack.lo);
    call.own.uc_link = &call.caller;
    makecontext(&call.own, on_stack, 0);
    swapcontext(&call.caller, &call.own);
    return call.result;
}

static void add_word(struct plan_words *words, const char *word)
{
    static char text[1 << 16];
    static size_t used;
    size_t size = strlen(word) + 1;

    if (words->at == NULL)
        words->at = text + used;
    memcpy(text + used, word, size);
    used += size;
    words->size += size;
}

void okrun_impl_begin(const struct okrun_impl *impl)
{
    static struct plan_header header;
    static struct plan plan = {.header = &header};

    header.stack = impl->stack_size;
    host_stack.lo = impl->stack;
    host_stack.hi = (char *)impl->stack + impl->stack_size;
    for (kal_uintptr i = 0; i < impl->dir_count; i++) {
        char fd[16];

        (void)snprintf(fd, sizeof fd, "%d", impl->dirs[i].fd);
        add_word(&plan.preopens, fd);
        add_word(&plan.preopens, impl->dirs[i].name);
    }
    if (impl->dir_count == 0)
        add_word(&plan.preopens, "");
    for (kal_uintptr i = 0; i < impl->runner_count; i++)
        add_word(&plan.runner, impl->runner[i]);
    host_image.plan = &plan;
    host_image.argc = (int)impl->arg_count;
    host_image.argv = (char **)(uintptr_t)impl->args;
}
