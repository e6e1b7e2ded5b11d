/* What the tests of bounds share. */
#ifndef TEST_BOUNDS_H
#define TEST_BOUNDS_H

#include <openkal/stream.h>
#include <time.h>

#include "kal/handle.h"

#define MS UINT64_C(1000000)

static kal_u64 now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (kal_u64)t.tv_sec * 1000 * MS + (kal_u64)t.tv_nsec;
}

/* A descriptor as a stream that has it for good: as a standard stream is, and not as what this program opened. */
static struct kal_stream given(int fd)
{
    return handle_stream(handle_new(HANDLE_FILE, fd, NULL, NULL));
}

#endif
