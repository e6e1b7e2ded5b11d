/* Frees its memory twice: the C library of the host ends it. */
#include <openkal/memory.h>

__attribute__((noinline)) static int free_twice(void)
{
    void* p = kal_alloc(100, 8);

    kal_free(p, 100, 8);
    kal_free(p, 100, 8);
    return 1;
}

int main(void)
{
    return free_twice() + 1;
}
