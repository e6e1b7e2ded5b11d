#include "kept.h"

#include <sys/mman.h>

#include "kal/copied.h"

#define CHUNK ((size_t)1 << 18)

pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
FREE_IN_COPIES(kept_lock)

static char *chunk;
static size_t chunk_left, taken;

static bool have_chunk(void)
{
    void *p = MAP_FAILED;

    if (taken < KEPT_MOST)
        p = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    taken += CHUNK;
    chunk = p;
    chunk_left = CHUNK;
    return true;
}

void *kept(size_t size)
{
    void *p;

    size = (size + 7) & ~(size_t)7;
    if (size > chunk_left && !have_chunk())
        return NULL;
    p = chunk;
    chunk += size;
    chunk_left -= size;
    return p;
}

/* FNV-1a, and one more round to bring its high bits down. */
uint64_t kept_hash(const char *name, size_t length, uint64_t from)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ from;

    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return h >> 32;
}
