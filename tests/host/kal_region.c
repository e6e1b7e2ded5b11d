/* openkal.region of the native host.                                                            SPEC: REG-1 to REG-4 */
#define _GNU_SOURCE
#include <errno.h>
#include <openkal/region.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory_of.h"

#define LARGE ((kal_uintptr)64 << 30)

/* A system that has no memory for more. */
static int full;

int mprotect(void *p, size_t size, int protection)
{
    if (full) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_mprotect, p, size, protection);
}

static char *reserved(kal_uintptr size)
{
    void *p = NULL;

    CHECK(kal_region_reserve(size, &p) == kal_ok && p != NULL && (uintptr_t)p % kal_region_granularity() == 0);
    return p;
}

static bool is_zero(const char *p, kal_uintptr size)
{
    while (size > 0 && p[size - 1] == 0)
        size--;
    return size == 0;
}

static void what_is_reserved_takes_addresses_only(void)
{
    char *p = reserved(LARGE);

    CHECK(kal_region_granularity() == (kal_uintptr)sysconf(_SC_PAGESIZE));
    CHECK(kal_region_props() == KAL_REGION_PROP_ZEROED);
    CHECK(strcmp(permissions(p), "---p") == 0 && strcmp(permissions(p + LARGE - 1), "---p") == 0);
    CHECK(fault_at(p, 0) == SIGSEGV && fault_at(p + LARGE / 2, 0) == SIGSEGV && fault_at(p + LARGE - 1, 0) == SIGSEGV);
    CHECK(kal_region_release(p, LARGE) == kal_ok);
    CHECK(strcmp(permissions(p), "") == 0);
}

/* In the middle of a large region, and no more than that. */
static void what_is_committed_is_memory(void)
{
    kal_uintptr page = kal_region_granularity();
    char *p = reserved(LARGE), *part = p + LARGE / 2;

    CHECK(kal_region_commit(part, 10 * page) == kal_ok);
    CHECK(is_zero(part, 10 * page));
    memset(part, 7, 10 * page);
    CHECK(fault_at(part - 1, 0) == SIGSEGV && fault_at(part + 10 * page, 0) == SIGSEGV);
    CHECK(kal_region_commit(part - page, 12 * page) == kal_ok); /* again, with a page more on both sides */
    CHECK(is_zero(part - page, page) && is_zero(part + 10 * page, page));
    for (kal_uintptr i = 0; i < 10 * page; i++)
        CHECK(part[i] == 7);
    CHECK(kal_region_commit(p, 1) == kal_ok && fault_at(p + page - 1, 1) == 0 && fault_at(p + page, 0) == SIGSEGV);
    CHECK(kal_region_commit(p + LARGE - page, page) == kal_ok && fault_at(p + LARGE - 1, 1) == 0);
    CHECK(kal_region_release(p, LARGE) == kal_ok);
}

static void what_is_decommitted_is_given_back(void)
{
    kal_uintptr page = kal_region_granularity();
    char *p = reserved(32 * page);

    CHECK(kal_region_commit(p, 32 * page) == kal_ok);
    memset(p, 1, 32 * page);
    CHECK(kal_region_decommit(p + 4 * page, 8 * page) == kal_ok);
    CHECK(fault_at(p + 4 * page, 0) == SIGSEGV && fault_at(p + 12 * page - 1, 0) == SIGSEGV);
    CHECK(p[4 * page - 1] == 1 && p[12 * page] == 1);
    CHECK(kal_region_decommit(p + 4 * page, 8 * page) == kal_ok); /* nothing is there */
    CHECK(kal_region_commit(p, 32 * page) == kal_ok);
    CHECK(is_zero(p + 4 * page, 8 * page) && p[4 * page - 1] == 1 && p[12 * page] == 1);
    CHECK(kal_region_decommit(p, 32 * page) == kal_ok && fault_at(p, 0) == SIGSEGV);
    CHECK(kal_region_release(p, 32 * page) == kal_ok);
}

static void ranges_that_are_no_parts_are_refused(void)
{
    int (*const calls[])(void *, kal_uintptr) = {kal_region_commit, kal_region_decommit};
    kal_uintptr page = kal_region_granularity();
    char *p = reserved(4 * page), *gone = reserved(page);
    void *out = &out;
    int here;

    CHECK(kal_region_release(gone, page) == kal_ok);
    for (size_t i = 0; i < 2; i++) {
        CHECK(calls[i](NULL, page) == kal_err_invalid && calls[i](&here, page) == kal_err_invalid);
        CHECK(calls[i](gone, page) == kal_err_invalid);
        CHECK(calls[i](p, 0) == kal_err_invalid && calls[i](p + 1, 1) == kal_err_invalid);
        CHECK(calls[i](p, 4 * page + 1) == kal_err_invalid && calls[i](p + page, 4 * page) == kal_err_invalid);
        CHECK(calls[i](p + 4 * page, page) == kal_err_invalid && calls[i](p - page, 2 * page) == kal_err_invalid);
        CHECK(calls[i](p, UINT64_MAX) == kal_err_invalid);
        CHECK(calls[i](p + page, UINT64_MAX - page + 1) == kal_err_invalid);
    }
    CHECK(strcmp(permissions(p), "---p") == 0);
    CHECK(kal_region_reserve(0, &out) == kal_err_invalid && kal_region_reserve(page, NULL) == kal_err_invalid);
    CHECK(kal_region_reserve((kal_uintptr)INT64_MAX + 1, &out) == kal_err_invalid);
    CHECK(kal_region_reserve(UINT64_MAX, &out) == kal_err_invalid);
    CHECK(kal_region_reserve((kal_uintptr)1 << 60, &out) == kal_err_no_memory);
    CHECK(kal_region_reserve((kal_uintptr)INT64_MAX, &out) == kal_err_no_memory && out == &out);
    CHECK(kal_region_release(NULL, 0) == kal_err_invalid && kal_region_release(&here, 1) == kal_err_invalid);
    CHECK(kal_region_release(p, page) == kal_err_invalid && kal_region_release(p + page, 3 * page) == kal_err_invalid);
    CHECK(kal_region_release(p, 4 * page) == kal_ok && kal_region_release(p, 4 * page) == kal_err_invalid);
}

/* A size need be no multiple: the last page is in it. */
static void sizes_are_of_whole_pages(void)
{
    kal_uintptr page = kal_region_granularity();
    char *p = reserved(page + 1);

    CHECK(kal_region_commit(p + page, 1) == kal_ok && fault_at(p + 2 * page - 1, 1) == 0);
    CHECK(kal_region_commit(p, 2 * page) == kal_ok);
    CHECK(kal_region_release(p, 2 * page) == kal_err_invalid && kal_region_release(p, page + 1) == kal_ok);
}

static void no_memory_is_said(void)
{
    kal_uintptr page = kal_region_granularity();
    char *p = reserved(page);

    full = 1;
    CHECK(kal_region_commit(p, page) == kal_err_no_memory && fault_at(p, 0) == SIGSEGV);
    full = 0;
    CHECK(kal_region_commit(p, page) == kal_ok && fault_at(p, 1) == 0);
    CHECK(kal_region_release(p, page) == kal_ok);
}

static void many_regions(void)
{
    static char *of[1000];
    kal_uintptr page = kal_region_granularity();

    for (int i = 0; i < 1000; i++)
        CHECK(kal_region_commit(of[i] = reserved(2 * page), page) == kal_ok);
    for (int i = 0; i < 1000; i += 2)
        CHECK(kal_region_release(of[i], 2 * page) == kal_ok);
    for (int i = 0; i < 1000; i++)
        CHECK(kal_region_commit(of[i] + page, page) == (i % 2 == 0 ? kal_err_invalid : kal_ok));
    for (int i = 1; i < 1000; i += 2)
        CHECK(is_zero(of[i], 2 * page) && kal_region_release(of[i], 2 * page) == kal_ok);
}

int main(void)
{
    what_is_reserved_takes_addresses_only();
    what_is_committed_is_memory();
    what_is_decommitted_is_given_back();
    ranges_that_are_no_parts_are_refused();
    sizes_are_of_whole_pages();
    no_memory_is_said();
    many_regions();
    return 0;
}
