/* What the kernel says of addresses of this process. */
#ifndef TEST_MEMORY_OF_H
#define TEST_MEMORY_OF_H

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

/* The permissions of the mapping that holds an address, as "rw-p"; "" where none does. Meanwhile no mapping may be
 * writable and executable. */
static inline const char *permissions(const void *address)
{
    static char found[5];
    FILE *list = fopen("/proc/self/maps", "r");
    char line[512], flags[5];
    unsigned long lo, hi;

    CHECK(list != NULL);
    found[0] = 0;
    while (fgets(line, sizeof line, list)) {
        CHECK(sscanf(line, "%lx-%lx %4s", &lo, &hi, flags) == 3);
        CHECK(flags[1] != 'w' || flags[2] != 'x');
        if ((uintptr_t)address >= lo && (uintptr_t)address < hi)
            memcpy(found, flags, sizeof found);
    }
    fclose(list);
    return found;
}

static sigjmp_buf after_fault;
static volatile int fault;

static inline void on_fault(int number)
{
    fault = number;
    siglongjmp(after_fault, 1);
}

/* The signal that a load or a store at an address ends in, or 0. */
__attribute__((no_sanitize("address"))) static inline int fault_at(void *address, int store)
{
    const struct sigaction action = {.sa_handler = on_fault};
    struct sigaction before[2];
    volatile char *volatile at = address;

    CHECK(sigaction(SIGSEGV, &action, &before[0]) == 0 && sigaction(SIGBUS, &action, &before[1]) == 0);
    fault = 0;
    if (sigsetjmp(after_fault, 1) == 0) {
        char byte = *at;

        if (store)
            *at = byte;
    }
    CHECK(sigaction(SIGSEGV, &before[0], NULL) == 0 && sigaction(SIGBUS, &before[1], NULL) == 0);
    return fault;
}

#endif
