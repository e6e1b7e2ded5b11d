/* openkal.memory, upon the C library's allocator. */
#include <openkal/memory.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* Ensures:  memory of at least size bytes at a multiple of align, its bytes not set; null for a size of 0, an alignment
 *           that is no power of two, or where there is none.        SPEC: KAL-3 */
void *kal_alloc(kal_uintptr size, kal_uintptr align)
{
    void *p = NULL;

    if (size == 0 || align == 0 || (align & (align - 1)) != 0 || align > PTRDIFF_MAX || size > PTRDIFF_MAX - align)
        return NULL;
    if (align <= _Alignof(max_align_t))
        return malloc(size);
    return posix_memalign(&p, align, size) == 0 ? p : NULL;
}

/* Requires: p is null or came from kal_alloc(size, align) and was not freed since. */
void kal_free(void *p, kal_uintptr size, kal_uintptr align)
{
    (void)size;
    (void)align;
    free(p);
    __asm__ volatile(""); /* a call, not a jump: a fault in free() has our caller's frame, by way of ours */
}

kal_uintptr kal_memory_granularity(void)
{
    return (kal_uintptr)sysconf(_SC_PAGESIZE);
}
