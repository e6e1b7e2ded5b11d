/* openkal.map: a file's bytes in the address space.                                             SPEC: MAP-1 to MAP-4 */
#include <openkal/map.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "copied.h"
#include "handle.h"
#include "ranges.h"
#include "sys.h"

static struct ranges maps = RANGES_NONE;
FREE_IN_COPIES(maps.lock)

/* What mmap() takes for an access, or false for one that means nothing. */
static bool protection_of(kal_uintptr access, int *protection, int *flags)
{
    *protection = PROT_READ | (access != KAL_MAP_READ ? PROT_WRITE : 0);
    *flags = (access & KAL_MAP_PRIVATE) != 0 ? MAP_PRIVATE : MAP_SHARED;
    return access == KAL_MAP_READ || access == (KAL_MAP_READ | KAL_MAP_WRITE) ||
           access == (KAL_MAP_READ | KAL_MAP_PRIVATE);
}

static int map(int fd, kal_u64 offset, kal_uintptr size, int protection, int flags, void **out)
{
    struct stat node;
    void *p;

    if (syscall(SYS_fstat, fd, &node) != 0) /* fstat() asks by an empty name, which takes longer */
        return sys_error(errno);
    if (!S_ISREG(node.st_mode))
        return kal_err_not_supported;
    if (offset > (kal_u64)node.st_size || size > (kal_u64)node.st_size - offset)
        return kal_err_invalid;
    p = mmap(NULL, size, protection, flags, fd, (off_t)offset);
    if (p == MAP_FAILED)
        return sys_error(errno);
    if (!ranges_add(&maps, p, size)) {
        munmap(p, size);
        return kal_err_no_memory;
    }
    *out = p;
    return kal_ok;
}

/* Ensures:  kal_err_invalid for a size of 0, bytes that the file does not have, an offset that is no multiple of the
 *           granularity and an access that is neither KAL_MAP_READ alone nor that with one of the others;
 *           kal_err_permission where the file was not opened for it; kal_err_not_supported for what is no plain file.
 *           What the file loses later faults when it is touched.                                  SPEC: MAP-1 */
int kal_map_file(struct kal_file file, kal_u64 offset, kal_uintptr size, kal_uintptr access, void **out)
{
    int protection, flags, error;
    struct handle *handle;

    if (out == NULL || size == 0 || ranges_pages(size) == 0 || offset % ranges_page() != 0 ||
        !protection_of(access, &protection, &flags))
        return kal_err_invalid;
    handle = handle_get(HANDLE_FILE, file.h);
    if (handle == NULL)
        return kal_err_invalid;
    error = map(handle->fd, offset, size, protection, flags, out);
    handle_put(handle);
    return error;
}

/* Ensures:  what was written to those bytes is with the device; kal_err_invalid for what lies in no mapping.
 * SPEC: MAP-2 */
int kal_map_flush(void *p, kal_uintptr size)
{
    struct range range;
    uintptr_t start = (uintptr_t)p & ~(ranges_page() - 1);
    int error;

    if (size == 0 || !ranges_find(&maps, p, size, &range))
        return kal_err_invalid;
    SYS_RETRY(error, msync((void *)start, (uintptr_t)p - start + size, MS_SYNC));
    return error;
}

/* Ensures:  kal_err_invalid for anything but the start and the size of a mapping.                 SPEC: MAP-3 */
int kal_map_release(void *p, kal_uintptr size)
{
    if (!ranges_take(&maps, p, size))
        return kal_err_invalid;
    return munmap(p, size) == 0 ? kal_ok : sys_error(errno);
}

/* SPEC: MAP-4 */
kal_uintptr kal_map_granularity(void)
{
    return ranges_page();
}

kal_uintptr kal_map_props(void)
{
    return KAL_MAP_PROP_SHARED;
}
