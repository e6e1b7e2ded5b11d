/* Code that is to be named for perf lies in memory of no file, which was never writable and executable at once.
 *
 * SPEC: PMAP-4 */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "good_plan.h"

static bool refuse_code; /* as a system does that lets no written memory become code */
static unsigned changes; /* of the protection of memory */

static void *test_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    CHECK((prot & (PROT_WRITE | PROT_EXEC)) != (PROT_WRITE | PROT_EXEC));
    return mmap(at, size, prot, flags, fd, offset);
}

static int test_mprotect(void *at, size_t size, int prot)
{
    CHECK((prot & (PROT_WRITE | PROT_EXEC)) != (PROT_WRITE | PROT_EXEC));
    changes++;
    if (refuse_code && (prot & PROT_EXEC) != 0) {
        errno = EACCES;
        return -1;
    }
    return mprotect(at, size, prot);
}

#define mmap test_mmap
#define mprotect test_mprotect
#include "../../okrun/host/map.c"
#undef mmap
#undef mprotect

static uint8_t file_byte(uint64_t offset)
{
    return (uint8_t)(offset * 31 + offset / 256 + 1);
}

static int make_file(uint64_t size)
{
    int fd = memfd_create("image", 0);

    for (uint64_t i = 0; i < size; i++) {
        uint8_t byte = i < PLAN_PAGE ? 0xee : file_byte(i - PLAN_PAGE);

        CHECK(write(fd, &byte, 1) == 1);
    }
    return fd;
}

/* What the system says of the mapping at an address: its protection, and whether it is a file's. */
static void look(const void *address, char prot[5], bool *is_file)
{
    FILE *list = fopen("/proc/self/maps", "re");
    char line[512];
    unsigned long from, to, inode;

    CHECK(list != NULL);
    while (fgets(line, sizeof line, list) != NULL) {
        CHECK(sscanf(line, "%lx-%lx %4s %*x %*s %lu", &from, &to, prot, &inode) == 4);
        if ((uintptr_t)address >= from && (uintptr_t)address < to) {
            *is_file = inode != 0;
            fclose(list);
            return;
        }
    }
    CHECK(!"the address is mapped");
}

/* An image that begins in the middle of its file, as in a bundle. */
static bool map_it(unsigned measure, int fd, uint8_t **base, struct refusal *why)
{
    static struct good_plan good;
    static struct plan plan;

    good = good_plan();
    good.h.image_offset = PLAN_PAGE;
    good.h.measure = measure;
    plan = view_of(&good);
    changes = 0;
    return map_image(&plan, fd, base, why);
}

static void check_code(unsigned measure, bool is_files)
{
    int fd = make_file(PLAN_PAGE + IMAGE_SIZE);
    struct refusal why;
    bool of_file;
    char prot[5];
    uint8_t *base;

    CHECK(map_it(measure, fd, &base, &why));
    for (uint64_t i = 0; i < 0x1000; i++)
        CHECK(base[CODE - LO + i] == file_byte(0x2000 + i));
    look(base + (CODE - LO), prot, &of_file);
    CHECK(strcmp(prot, "r-xp") == 0 && of_file == is_files);
    look(base, prot, &of_file);
    CHECK(strcmp(prot, "r--p") == 0 && of_file);
    look(base + (DATA - LO), prot, &of_file);
    CHECK(strcmp(prot, "rw-p") == 0 && of_file);
    CHECK(munmap(base, HI - LO) == 0);
    close(fd);
}

/* Where written memory may not become code it is the file's, as ever, and one line says what that means. */
static void check_refused(void)
{
    char said[256];
    int ends[2], saved = dup(STDERR_FILENO);
    ssize_t n;

    CHECK(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    refuse_code = true;
    check_code(PLAN_MEASURE_PERFMAP, true);
    refuse_code = false;
    CHECK(dup2(saved, STDERR_FILENO) == STDERR_FILENO);
    n = read(ends[0], said, sizeof said - 1);
    CHECK(n > 0);
    said[n] = 0;
    CHECK(strncmp(said, "okrun: a.ok: ", 13) == 0 && strchr(said, '\n') == said + n - 1);
}

static void check_short_file(void)
{
    int fd = make_file(PLAN_PAGE + 0x2800); /* as one that is cut after it was checked */
    struct refusal why;
    uint8_t *base;

    CHECK(!map_it(PLAN_MEASURE_PERFMAP, fd, &base, &why));
    CHECK(strstr(why.text, "a.ok: cannot be mapped: Input/output error") == why.text);
    close(fd);
}

int main(void)
{
    check_code(PLAN_MEASURE_CALLS, true);
    CHECK(changes == 0);
    check_code(PLAN_MEASURE_PERFMAP | PLAN_MEASURE_HEAP, false);
    CHECK(changes == 1);
    check_refused();
    check_short_file();
    return 0;
}
