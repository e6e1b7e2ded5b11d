/* What the host keeps of what a measured program says, until the process ends. */
#ifndef OKHOST_KEPT_H
#define OKHOST_KEPT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEPT_MOST ((size_t)256 << 20) /* bytes: a program that names too much must not be ended for its memory */

/* Held by whoever adds something. */
extern pthread_mutex_t kept_lock;

/* Memory that is zero and is never given back; null where there is no more, or KEPT_MOST is used up.
 * Requires: the lock is held; size is not above 64 KiB. */
void *kept(size_t size);

/* A hash of a name, to be continued from 0 or from another. */
uint64_t kept_hash(const char *name, size_t length, uint64_t from);

/* Two versions of something that one changes while another, who takes no lock, reads what it was at the last change
 * that is whole. Changes have numbers, and what a version says holds from its change on; the reader knows the number of
 * the last that is whole. Who makes the next writes over the other version: `1 - version_at(...)`. */
struct versions {
    uint64_t change[2];
};

/* Which version holds at a change: the later of those that are not after it. */
static inline int version_at(const struct versions *versions, uint64_t change)
{
    uint64_t first = __atomic_load_n(&versions->change[0], __ATOMIC_ACQUIRE);
    uint64_t second = __atomic_load_n(&versions->change[1], __ATOMIC_ACQUIRE);

    return second <= change && (first > change || second > first);
}

/* Say that a version, which is written, is of a change. */
static inline void version_set(struct versions *versions, int version, uint64_t change)
{
    __atomic_store_n(&versions->change[version], change, __ATOMIC_RELEASE);
}

#endif
