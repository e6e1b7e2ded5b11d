/* Takes and frees blocks in an order that looks like none, in eight ways: as an image, or as a program of the system. */
#ifdef NATIVE
#include <stdlib.h>
#define TAKE(size) malloc(size)
#define FREE(p, size) free(p)
#else
#include <openkal/memory.h>
#define TAKE(size) kal_alloc(size, 16)
#define FREE(p, size) kal_free(p, size, 16)
#endif

#define SLOTS 64
#define STEPS 20000

static void *slots[SLOTS];
static unsigned sizes[SLOTS];

__attribute__((noinline)) static void *small(unsigned size)
{
    return TAKE(size);
}

__attribute__((noinline)) static void *large(unsigned size)
{
    return TAKE(40 * size);
}

__attribute__((noinline)) static void *by_way_of(unsigned depth, unsigned size)
{
    void *p = depth == 0 ? small(size) : by_way_of(depth - 1, size);

    __asm__ volatile("" ::: "memory");
    return p;
}

__attribute__((noinline)) static void *take(unsigned way, unsigned size)
{
    return way == 0 ? small(size) : way == 1 ? large(size) : by_way_of(way - 2, size);
}

__attribute__((noinline)) static void shuffle(void)
{
    unsigned seed = 12345;

    for (unsigned i = 0; i < STEPS; i++) {
        unsigned slot, way;

        seed = seed * 1103515245u + 12345u;
        slot = seed >> 16 & (SLOTS - 1);
        way = seed >> 24 & 7;
        if (slots[slot]) {
            FREE(slots[slot], sizes[slot]);
            slots[slot] = 0;
        } else {
            sizes[slot] = way == 1 ? 40 * (16 + slot) : 16 + slot;
            slots[slot] = take(way, 16 + slot);
        }
    }
}

int main(void)
{
    shuffle();
    return 0;
}
