/* The image's address range: one reservation, with the segments mapped over it straight from the file. */
#define _GNU_SOURCE /* strerrordesc_np */
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "load.h"

static uint64_t nanoseconds(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool same_file(const struct plan_header *h, int fd)
{
    struct stat now;

    return fstat(fd, &now) == 0 && now.st_dev == h->file_dev && now.st_ino == h->file_ino &&
           (uint64_t)now.st_size == h->file_size && nanoseconds(now.st_mtim) == h->file_mtime_ns &&
           nanoseconds(now.st_ctim) == h->file_ctime_ns;
}

static uint64_t host_page(void)
{
    return getauxval(AT_PAGESZ);
}

static uint64_t down(uint64_t value, uint64_t page)
{
    return value & ~(page - 1);
}

static uint64_t up(uint64_t value, uint64_t page)
{
    return down(value + page - 1, page);
}

/* Reserve the address range, with an inaccessible page at both ends; null and errno when there is no room.
 * Ensures: the result and the link address lo differ by a multiple of the image's alignment. */
static uint8_t *reserve(const struct plan_header *h)
{
    uint64_t size = h->hi - h->lo, room = size + 2 * PLAN_PAGE + h->align, head, tail;
    uint8_t *start = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (start == MAP_FAILED)
        return NULL;
    head = (h->lo - PLAN_PAGE - (uintptr_t)start) & (h->align - 1);
    tail = h->align - head;
    if (head != 0)
        munmap(start, head);
    munmap(start + room - tail, tail);
    return start + head + PLAN_PAGE;
}

static bool cannot_map(const struct plan *plan, bool code, struct refusal *why)
{
    if (code && (errno == EPERM || errno == EACCES))
        return refuse(why, "%s: its file system lets no code be mapped (mounted noexec?): copy it elsewhere [RUN-2]",
                      plan->path);
    return refuse(why, "%s: cannot be mapped: %s [RUN-2]", plan->path, strerrordesc_np(errno));
}

static bool map_segment(const struct plan *plan, const struct plan_segment *s, int fd, uint8_t *base,
                        struct refusal *why)
{
    uint64_t lo = plan->header->lo, page = host_page();
    uint64_t start = down(s->vaddr, page), file_end = s->vaddr + s->filesz, end = up(s->vaddr + s->memsz, page);
    uint64_t zero_from = s->filesz == 0 ? start : up(file_end, page);
    bool code = (s->prot & PLAN_PROT_X) != 0;
    bool read_only_zeroes = s->memsz != s->filesz && (s->prot & PLAN_PROT_W) == 0;
    int prot = PROT_READ | (code ? PROT_EXEC : 0) | ((s->prot & PLAN_PROT_W) != 0 || read_only_zeroes ? PROT_WRITE : 0);

    if (s->filesz != 0) {
        uint64_t offset = plan->header->image_offset + s->offset - (s->vaddr - start);

        if (mmap(base + (start - lo), file_end - start, prot, MAP_PRIVATE | MAP_FIXED, fd, (off_t)offset) ==
            MAP_FAILED)
            return cannot_map(plan, code, why);
        /* the page's last bytes are what follows in the file, and belong to whoever wrote that */
        if (s->memsz != s->filesz)
            memset(base + (file_end - lo), 0, zero_from - file_end);
    }
    if (end > zero_from && mmap(base + (zero_from - lo), end - zero_from, prot,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        return cannot_map(plan, code, why);
    if (read_only_zeroes && mprotect(base + (start - lo), end - start, PROT_READ) != 0)
        return cannot_map(plan, code, why);
    return true;
}

static bool read_all(int fd, uint8_t *to, uint64_t size, uint64_t offset)
{
    while (size != 0) {
        ssize_t got = pread(fd, to, size, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got < 0 ? errno : EIO;
            return false;
        }
        to += got;
        size -= (uint64_t)got;
        offset += (uint64_t)got;
    }
    return true;
}

/* Have code, which is mapped, in memory of no file: for nothing else does perf look into the map of perfmap.h. It is
 * never writable and executable at once; where the system lets no written memory become code, it stays the file's.
 * SPEC: PMAP-4 */
static bool detach(const struct plan *plan, const struct plan_segment *s, int fd, uint8_t *base, struct refusal *why)
{
    uint64_t page = host_page(), start = down(s->vaddr, page), size = up(s->vaddr + s->filesz, page) - start;
    void *at = base + (start - plan->header->lo);

    if (mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
        !read_all(fd, base + (s->vaddr - plan->header->lo), s->filesz, plan->header->image_offset + s->offset))
        return cannot_map(plan, false, why);
    if (mprotect(at, size, PROT_READ | PROT_EXEC) == 0)
        return true;
    host_warn("%s: perf may not find its names: no written memory may become code here", plan->path);
    return map_segment(plan, s, fd, base, why);
}

bool map_image(const struct plan *plan, int fd, uint8_t **base, struct refusal *why)
{
    const struct plan_header *h = plan->header;

    *base = reserve(h);
    if (*base == NULL)
        return refuse(why, "%s: no room for its addresses: %s (got %#lx) [RUN-1]", plan->path,
                      strerrordesc_np(errno), h->hi - h->lo);
    for (uint64_t i = 0; i < h->segment_count; i++) {
        const struct plan_segment *s = &plan->segments[i];

        if (!map_segment(plan, s, fd, *base, why))
            return false;
        if ((h->measure & PLAN_MEASURE_PERFMAP) != 0 && (s->prot & PLAN_PROT_X) != 0 && s->filesz != 0 &&
            !detach(plan, s, fd, *base, why))
            return false;
    }
    return true;
}

/* Both ends of the range are rounded down to the page that segments do not share, whatever the host's page is, so that
 * the same words are protected everywhere; but never past what is mapped. */
bool map_relro(const struct plan *plan, uint8_t *base, struct refusal *why)
{
    const struct plan_header *h = plan->header;
    uint64_t page = host_page(), start = down(h->relro, PLAN_PAGE), end = down(h->relro + h->relro_size, PLAN_PAGE);

    if (h->relro_size == 0)
        return true;
    for (uint64_t i = 0; i < h->segment_count; i++) {
        const struct plan_segment *s = &plan->segments[i];
        uint64_t first = down(s->vaddr, page), last = up(s->vaddr + s->memsz, page);

        if (h->relro < s->vaddr || h->relro >= up(last, PLAN_PAGE))
            continue;
        first = start > first ? start : first;
        last = end < last ? end : last;
        if (first < last && mprotect(base + (first - h->lo), last - first, PROT_READ) != 0)
            return refuse(why, "%s: relro cannot be protected: %s [RUN-4]", plan->path, strerrordesc_np(errno));
    }
    return true;
}

_Thread_local struct stack host_stack;

bool map_stack(uint64_t size, void **lo, void **hi, struct refusal *why)
{
    uint8_t *guard = mmap(NULL, size + PLAN_PAGE, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

    if (guard == MAP_FAILED || mprotect(guard + PLAN_PAGE, size, PROT_READ | PROT_WRITE) != 0) {
        (void)refuse(why, "no room for a stack: %s (got %#lx) [RUN-6]", strerrordesc_np(errno), size);
        if (guard != MAP_FAILED)
            munmap(guard, size + PLAN_PAGE);
        return false;
    }
    *lo = guard + PLAN_PAGE;
    *hi = guard + PLAN_PAGE + size;
    return true;
}

void unmap_stack(void *lo, void *hi)
{
    uint8_t *guard = (uint8_t *)lo - PLAN_PAGE;

    munmap(guard, (size_t)((uint8_t *)hi - guard));
}
