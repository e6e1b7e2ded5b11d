/* What ends a program: looked at in a copy of it, where there are copies. */
#ifndef FAULT_H
#define FAULT_H

#include <openkal/image.h>

#include "conformance.h"

KAL_OPTIONAL(kal_space_start)

static kal_u64 fault_stack[8192] __attribute__((aligned(16)));

/* HELD where a copy that calls entry(arg) is ended by the system, and NOT_OBSERVED where there are no copies. */
static inline enum outcome faults(void (*entry)(void*), void* arg)
{
    struct kal_process process;
    int status = 0, terminated = 0;

    if (!kal_space_start)
        return NOT_OBSERVED;
    if (kal_space_start(entry, arg, fault_stack + 8192, &process) != kal_ok)
        return NOT_HELD;
    kal_process_wait(process, &status, &terminated);
    kal_process_close(process);
    return terminated ? HELD : NOT_HELD;
}

static inline void write_byte(void* at)
{
    *(volatile char*)at = 1;
}

static inline void read_byte(void* at)
{
    (void)*(volatile char*)at;
}

#endif
