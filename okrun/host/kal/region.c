/* openkal.region: address space reserved first, memory committed later.                       SPEC: REG-1 to REG-4 */
#include <openkal/region.h>
#include <sys/mman.h>

#include "copied.h"
#include "ranges.h"
#include "sys.h"

static struct ranges regions = RANGES_NONE;
FREE_IN_COPIES(regions.lock)

/* Not MAP_NORESERVE: addresses without access count for nothing, and what is committed is to be counted, so that the
 * system can refuse it then instead of ending the program when it is touched.
 * Ensures:  addresses that fault until they are committed; kal_err_invalid for a size of 0 or of more than half the
 *           address space, kal_err_no_memory where there are no such addresses.                   SPEC: REG-1 */
int kal_region_reserve(kal_uintptr size, void **out)
{
    size_t pages = ranges_pages(size);
    void *p;

    if (out == NULL || pages == 0)
        return kal_err_invalid;
    p = mmap(NULL, pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return sys_error(errno);
    if (!ranges_add(&regions, p, size)) {
        munmap(p, pages);
        return kal_err_no_memory;
    }
    *out = p;
    return kal_ok;
}

/* Whether p begins a page and the size bytes there lie in a region. */
static bool is_part(const void *p, kal_uintptr size)
{
    struct range range;

    return size != 0 && (uintptr_t)p % ranges_page() == 0 && ranges_find(&regions, p, size, &range);
}

/* Ensures:  readable and writable memory, in whole pages, which reads 0 where it was not committed before and what it
 *           was where it was; kal_err_invalid for a size of 0 and what does not begin at a multiple of the granularity
 *           or lies in no region; kal_err_no_memory where the system has not that much.            SPEC: REG-2 */
int kal_region_commit(void *p, kal_uintptr size)
{
    if (!is_part(p, size))
        return kal_err_invalid;
    return mprotect(p, ranges_pages(size), PROT_READ | PROT_WRITE) == 0 ? kal_ok : sys_error(errno);
}

/* Ensures:  the memory is the system's again, in whole pages, and its addresses fault; errors as kal_region_commit().
 * SPEC: REG-2 */
int kal_region_decommit(void *p, kal_uintptr size)
{
    void *fresh;

    if (!is_part(p, size))
        return kal_err_invalid;
    fresh = mmap(p, ranges_pages(size), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return fresh != MAP_FAILED ? kal_ok : sys_error(errno);
}

/* Ensures:  kal_err_invalid for anything but the start and the size of a region.                  SPEC: REG-3 */
int kal_region_release(void *p, kal_uintptr size)
{
    if (!ranges_take(&regions, p, size))
        return kal_err_invalid;
    return munmap(p, ranges_pages(size)) == 0 ? kal_ok : sys_error(errno);
}

/* SPEC: REG-4 */
kal_uintptr kal_region_granularity(void)
{
    return ranges_page();
}

kal_uintptr kal_region_props(void)
{
    return KAL_REGION_PROP_ZEROED;
}
