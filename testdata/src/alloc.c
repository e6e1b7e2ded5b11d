/* alloc: takes blocks of many sizes and alignments, fills all of them, checks all of them, gives them back. Status 0,
 * or the number of the check that failed:
 *
 *     1 a block is null             2 a block is not aligned        3 a block lost its bytes
 *     4 size 0 gave a block         5 alignment 3 gave a block      6 a size that overflows gave a block */

#include <openkal/memory.h>
#include <openkal/image.h>

OPENKAL_IMAGE(KAL_IFACE_MEMORY, 0, 0)

int _start(void);

enum { SIZES = 8, ALIGNS = 6, BLOCKS = SIZES * ALIGNS };

static const kal_uintptr sizes[SIZES] = {1, 7, 8, 100, 4096, 65537, 1 << 20, 3000001};
static const kal_uintptr aligns[ALIGNS] = {1, 8, 16, 64, 4096, 65536};
static unsigned char* blocks[BLOCKS];

static int fill(void)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        kal_uintptr align = aligns[i % ALIGNS];

        blocks[i] = (unsigned char*)kal_alloc(sizes[i / ALIGNS], align);
        if (!blocks[i])
            return 1;
        if ((kal_uintptr)blocks[i] % align)
            return 2;
        __builtin_memset(blocks[i], (int)(i + 1), sizes[i / ALIGNS]);
    }
    return 0;
}

static int check(void)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        for (kal_uintptr at = 0; at < sizes[i / ALIGNS]; at++)
            if (blocks[i][at] != i + 1)
                return 3;
    return 0;
}

int _start(void)
{
    int fault = fill();

    if (!fault)
        fault = check();
    if (fault)
        return fault;
    for (unsigned i = 0; i < BLOCKS; i++)
        kal_free(blocks[i], sizes[i / ALIGNS], aligns[i % ALIGNS]);
    kal_free(0, 1, 1);
    if (kal_alloc(0, 1))
        return 4;
    if (kal_alloc(8, 3))
        return 5;
    if (kal_alloc(~(kal_uintptr)0 - 8, 64))
        return 6;
    return 0;
}
