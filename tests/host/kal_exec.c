/* openkal.exec of the native host.                                                            SPEC: EXEC-1 to EXEC-4 */
#define _GNU_SOURCE
#include <errno.h>
#include <openkal/exec.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory_of.h"

/* A system that lets nobody make code: what kernels with such a policy answer. */
static int forbidden;

int mprotect(void *p, size_t size, int protection)
{
    if (forbidden != 0 && (protection & PROT_EXEC) != 0) {
        errno = forbidden;
        return -1;
    }
    return (int)syscall(SYS_mprotect, p, size, protection);
}

/* int f(void) { return number; } */
static size_t write_code(void *to, unsigned number)
{
#if defined(__x86_64__)
    const unsigned char code[] = {0xb8, (unsigned char)number, 0, 0, 0, 0xc3}; /* mov eax, number; ret */
#else
    const uint32_t code[] = {0x52800000 | (number & 0xff) << 5, 0xd65f03c0}; /* mov w0, number; ret */
#endif

    memcpy(to, code, sizeof code);
    return sizeof code;
}

__attribute__((no_sanitize("undefined"))) static unsigned run_code(void *code)
{
    unsigned (*function)(void) = (unsigned (*)(void))code;

    return function();
}

static void memory_is_writable_and_empty(void)
{
    kal_uintptr page = kal_exec_granularity();
    char *p = kal_exec_alloc(3 * page - 1);

    CHECK(page == (kal_uintptr)sysconf(_SC_PAGESIZE));
    CHECK(p != NULL && (uintptr_t)p % page == 0);
    CHECK(strcmp(permissions(p), "rw-p") == 0 && strcmp(permissions(p + 3 * page - 1), "rw-p") == 0);
    for (kal_uintptr i = 0; i < 3 * page - 1; i++)
        CHECK(p[i] == 0);
    memset(p, 1, 3 * page - 1);
    kal_exec_free(p, 3 * page - 1);
    CHECK(strcmp(permissions(p), "") == 0);
}

static void what_cannot_be_had_is_null(void)
{
    CHECK(kal_exec_alloc(0) == NULL);
    CHECK(kal_exec_alloc(UINT64_MAX) == NULL);
    CHECK(kal_exec_alloc((kal_uintptr)INT64_MAX + 1) == NULL);
    CHECK(kal_exec_alloc((kal_uintptr)1 << 60) == NULL);
}

static void code_runs_when_it_is_published(void)
{
    char *p = kal_exec_alloc(4096);

    write_code(p, 42);
    CHECK(kal_exec_publish(p, 4096) == kal_ok);
    CHECK(strcmp(permissions(p), "r-xp") == 0);
    CHECK(run_code(p) == 42);
    CHECK(fault_at(p, 1) == SIGSEGV && fault_at(p, 0) == 0);
    CHECK(kal_exec_publish(p, 4096) == kal_ok && run_code(p) == 42);
    kal_exec_free(p, 4096);
    CHECK(fault_at(p, 0) == SIGSEGV);
}

/* Each part is executable from its own publishing on, and what is not yet published can still be written. */
static void parts_are_published_one_by_one(void)
{
    kal_uintptr page = kal_exec_granularity(), size = 3 * page + 100;
    char *p = kal_exec_alloc(size);

    for (unsigned i = 0; i < 4; i++)
        write_code(p + i * page, i);
    CHECK(kal_exec_publish_part(p, page, page) == kal_ok);
    CHECK(strcmp(permissions(p), "rw-p") == 0 && strcmp(permissions(p + page), "r-xp") == 0);
    CHECK(strcmp(permissions(p + 2 * page), "rw-p") == 0 && run_code(p + page) == 1);
    write_code(p, 7);
    CHECK(kal_exec_publish_part(p, 3 * page, 100) == kal_ok && run_code(p + 3 * page) == 3);
    CHECK(kal_exec_publish(p, size) == kal_ok && run_code(p) == 7 && run_code(p + 2 * page) == 2);
    kal_exec_free(p, size);
}

static void ranges_that_are_no_regions_are_refused(void)
{
    kal_uintptr page = kal_exec_granularity(), size = 3 * page;
    char *p = kal_exec_alloc(size), *free = kal_exec_alloc(page);
    int here;

    kal_exec_free(free, page);
    CHECK(kal_exec_publish(NULL, page) == kal_err_invalid && kal_exec_publish(&here, 1) == kal_err_invalid);
    CHECK(kal_exec_publish(free, page) == kal_err_invalid);
    CHECK(kal_exec_publish(p, 0) == kal_err_invalid && kal_exec_publish(p, page) == kal_err_invalid);
    CHECK(kal_exec_publish(p, size + 1) == kal_err_invalid && kal_exec_publish(p, UINT64_MAX) == kal_err_invalid);
    CHECK(kal_exec_publish(p + page, 2 * page) == kal_err_invalid);
    CHECK(kal_exec_publish_part(NULL, 0, page) == kal_err_invalid);
    CHECK(kal_exec_publish_part(p + page, 0, page) == kal_err_invalid);
    CHECK(kal_exec_publish_part(p, 0, 0) == kal_err_invalid && kal_exec_publish_part(p, 1, page) == kal_err_invalid);
    CHECK(kal_exec_publish_part(p, 0, 1) == kal_err_invalid); /* what shares its page would be published, too */
    CHECK(kal_exec_publish_part(p, size, page) == kal_err_invalid);
    CHECK(kal_exec_publish_part(p, page, size) == kal_err_invalid);
    CHECK(kal_exec_publish_part(p, UINT64_MAX - page + 1, page) == kal_err_invalid);
    CHECK(kal_exec_publish_part(p, page, UINT64_MAX - page + 1) == kal_err_invalid);
    kal_exec_free(NULL, 0);
    kal_exec_free(&here, 1);
    kal_exec_free(p, page);
    kal_exec_free(p + page, 2 * page);
    CHECK(strcmp(permissions(p), "rw-p") == 0 && strcmp(permissions(p + 2 * page), "rw-p") == 0);
    kal_exec_free(p, size);
    kal_exec_free(p, size);
}

static void a_system_can_forbid_it(void)
{
    static const int answers[] = {EACCES, EPERM};
    char *p = kal_exec_alloc(100);

    CHECK(kal_exec_props() == KAL_EXEC_PROP_AVAILABLE);
    for (size_t i = 0; i < 2; i++) {
        forbidden = answers[i];
        CHECK(kal_exec_props() == 0);
        CHECK(kal_exec_publish(p, 100) == kal_err_permission && strcmp(permissions(p), "rw-p") == 0);
    }
    forbidden = ENOMEM; /* for now */
    CHECK(kal_exec_publish(p, 100) == kal_err_no_memory && kal_exec_props() == KAL_EXEC_PROP_AVAILABLE);
    forbidden = 0;
    kal_exec_free(p, 100);
}

int main(void)
{
    memory_is_writable_and_empty();
    what_cannot_be_had_is_null();
    code_runs_when_it_is_published();
    parts_are_published_one_by_one();
    ranges_that_are_no_regions_are_refused();
    a_system_can_forbid_it();
    return 0;
}
