/* Ways through the calling task's stack, and whose code an address is in. Signal-safe. */
#ifndef OKHOST_FRAMES_H
#define OKHOST_FRAMES_H

#include "host.h"
#include "implementation.h"

extern const char __executable_start[], etext[]; /* the host's own code, by the linker */

/* A word of the image's stack; the sanitizers know nothing of that stack, and guard parts of it. */
__attribute__((no_sanitize("address"))) static inline bool stack_word(uint64_t at, uint64_t *word)
{
    uint64_t lo = (uintptr_t)host_stack.lo, hi = (uintptr_t)host_stack.hi;

    if (at % 8 != 0 || at < lo || hi - lo < 8 || at > hi - 8)
        return false;
    *word = *(const volatile uint64_t *)at;
    return true;
}

/* A return address without the signature that AArch64 code may have put on it. */
static inline uint64_t unsigned_address(uint64_t address)
{
#if defined(__aarch64__)
    register uint64_t x30 __asm__("x30") = address;

    __asm__("hint #7" : "+r"(x30)); /* xpaclri; nothing on a processor that does not sign */
    return x30;
#else
    return address;
#endif
}

static inline bool in_host(uint64_t address)
{
    return (address >= (uintptr_t)__executable_start && address < (uintptr_t)etext) ||
           implementation_has_code(address);
}

/* Is a run-time address in the image? Then its link address is *link. */
static inline bool in_image(uint64_t address, uint64_t *link)
{
    const struct plan_header *h = host_image.plan->header;
    uint64_t distance = address - (uintptr_t)host_image.base;

    *link = h->lo + distance;
    return host_image.base != NULL && distance < h->hi - h->lo;
}

#endif
