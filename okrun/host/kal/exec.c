/* openkal.exec: code made at run time, in memory that is writable first and executable then, never both.
 * SPEC: EXEC-1 to EXEC-4 */
#include <openkal/exec.h>
#include <sys/mman.h>

#include "copied.h"
#include "ranges.h"
#include "sys.h"

static struct ranges regions = RANGES_NONE;
FREE_IN_COPIES(regions.lock)

/* Ensures:  writable memory at a multiple of the granularity that reads 0, or null.               SPEC: EXEC-1 */
void *kal_exec_alloc(kal_uintptr size)
{
    size_t pages = ranges_pages(size);
    void *p;

    if (pages == 0)
        return NULL;
    p = mmap(NULL, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (!ranges_add(&regions, p, size)) {
        munmap(p, pages);
        return NULL;
    }
    return p;
}

static int publish(void *p, size_t size)
{
    char *code = p;

    if (mprotect(p, ranges_pages(size), PROT_READ | PROT_EXEC) != 0)
        return sys_error(errno);
    __builtin___clear_cache(code, code + size);
    return kal_ok;
}

/* Ensures:  all of it can be executed and none of it written; kal_err_invalid for anything but the start and the size
 *           of a region; kal_err_permission where the system lets nobody make code.               SPEC: EXEC-2 */
int kal_exec_publish(void *p, kal_uintptr size)
{
    struct range range;

    if (!ranges_find(&regions, p, size, &range) || range.start != (uintptr_t)p || range.size != size)
        return kal_err_invalid;
    return publish(p, size);
}

/* Ensures:  as kal_exec_publish() for a part that begins at a multiple of the granularity, and ends at one or at the
 *           region's end; the rest stays as it was.                                               SPEC: EXEC-2 */
int kal_exec_publish_part(void *p, kal_uintptr offset, kal_uintptr size)
{
    struct range range;
    size_t page = ranges_page();

    if (!ranges_find(&regions, p, 1, &range) || range.start != (uintptr_t)p || size == 0 || size > range.size ||
        offset > range.size - size || offset % page != 0 || (size % page != 0 && offset + size != range.size))
        return kal_err_invalid;
    return publish((char *)p + offset, size);
}

/* Ensures:  the memory is the system's again; nothing for anything but the start and the size of a region.
 * SPEC: EXEC-3 */
void kal_exec_free(void *p, kal_uintptr size)
{
    if (ranges_take(&regions, p, size))
        munmap(p, ranges_pages(size));
}

/* SPEC: EXEC-4 */
kal_uintptr kal_exec_granularity(void)
{
    return ranges_page();
}

/* Whether the system lets a program make code: some forbid to execute what was written. What was published cannot be
 * written again, so KAL_EXEC_PROP_REPUBLISH is not set.                                            SPEC: EXEC-4 */
kal_uintptr kal_exec_props(void)
{
    void *p = kal_exec_alloc(1);
    int error = p ? kal_exec_publish(p, 1) : kal_err_no_memory;

    if (p)
        kal_exec_free(p, 1);
    return error != kal_err_permission ? KAL_EXEC_PROP_AVAILABLE : 0;
}
