/* Mapping: which bytes lie where, who may touch them, and the file that is no longer the same. */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "good_plan.h"
#include "load.h"

struct fixture {
    struct good_plan good;
    struct plan plan;
    int fd;
    uint8_t *base;
    struct refusal why;
};

static uint8_t file_byte(uint64_t offset)
{
    return (uint8_t)(offset * 31 + offset / 256 + 1);
}

/* A file of 0x4800 bytes, so that the page after the image's last byte is not empty; the image begins at offset. */
static void setup(struct fixture *f, uint64_t offset)
{
    struct stat s;

    f->fd = memfd_create("image", 0);
    for (uint64_t i = 0; i < offset + 0x4800; i++) {
        uint8_t byte = i < offset ? 0xee : file_byte(i - offset);

        CHECK(write(f->fd, &byte, 1) == 1);
    }
    CHECK(fstat(f->fd, &s) == 0);
    f->good = good_plan();
    f->good.h.image_offset = offset;
    f->good.h.file_dev = s.st_dev;
    f->good.h.file_ino = s.st_ino;
    f->good.h.file_size = (uint64_t)s.st_size;
    f->good.h.file_mtime_ns = (uint64_t)s.st_mtim.tv_sec * 1000000000u + (uint64_t)s.st_mtim.tv_nsec;
    f->good.h.file_ctime_ns = (uint64_t)s.st_ctim.tv_sec * 1000000000u + (uint64_t)s.st_ctim.tv_nsec;
    f->plan = view_of(&f->good);
}

static uint8_t *at(const struct fixture *f, uint64_t addr)
{
    return f->base + (addr - LO);
}

/* The system copies from and to an address only if it may be read or written; no signal is needed to ask. */
static bool readable(const void *address)
{
    int pipes[2];
    bool good;

    CHECK(pipe(pipes) == 0);
    good = write(pipes[1], address, 1) == 1;
    close(pipes[0]);
    close(pipes[1]);
    return good;
}

static bool writable(void *address)
{
    int pipes[2];
    bool good;

    CHECK(pipe(pipes) == 0 && write(pipes[1], "x", 1) == 1);
    good = read(pipes[0], address, 1) == 1;
    close(pipes[0]);
    close(pipes[1]);
    return good;
}

/* Is the page part of a mapping, so that nothing else can come to lie there? */
static bool reserved(const uint8_t *page)
{
    return msync((void *)(uintptr_t)page, PLAN_PAGE, MS_ASYNC) == 0;
}

static void segments_lie_where_the_plan_says(uint64_t offset)
{
    static struct fixture f;

    setup(&f, offset);
    f.good.s[2].filesz = 0xf00;
    CHECK(map_image(&f.plan, f.fd, &f.base, &f.why));
    CHECK((uintptr_t)f.base % PLAN_PAGE == 0);
    for (uint64_t i = 0; i < 0x2000; i++)
        CHECK(*at(&f, RODATA + i) == file_byte(i));
    for (uint64_t i = 0; i < 0x1000; i++)
        CHECK(*at(&f, CODE + i) == file_byte(0x2000 + i));
    for (uint64_t i = 0; i < 0x3000; i++)
        CHECK(*at(&f, DATA + i) == (i < 0xf00 ? file_byte(0x3000 + i) : 0));
    CHECK(!writable(at(&f, RODATA)) && !writable(at(&f, CODE)) && writable(at(&f, DATA_END - 1)));
    CHECK(!readable(at(&f, RODATA + 0x2000)) && !readable(at(&f, CODE - 0x1000 - 1)) && !readable(at(&f, HI - 1)));
    CHECK(!readable(f.base - 1) && !readable(f.base - PLAN_PAGE) && reserved(f.base - PLAN_PAGE));
    CHECK(!readable(at(&f, HI)) && !readable(at(&f, HI + PLAN_PAGE - 1)) && reserved(at(&f, HI)));
    CHECK(reserved(at(&f, RODATA + 0x2000)));

    /* what the image writes stays with it */
    *at(&f, DATA) = (uint8_t)~file_byte(0x3000);
    CHECK(pread(f.fd, at(&f, DATA), 1, (off_t)(offset + 0x3000)) == 1 && *at(&f, DATA) == file_byte(0x3000));
    munmap(f.base, HI - LO);
    close(f.fd);
}

/* Each time, as the kernel chooses another place: by chance one in 32 would be right. SPEC: RUN-1 */
static void alignment_is_kept(void)
{
    static struct fixture f;

    for (int i = 0; i < 16; i++) {
        setup(&f, 0);
        f.good.h.align = UINT64_C(1) << 21;
        CHECK(map_image(&f.plan, f.fd, &f.base, &f.why));
        CHECK(((uintptr_t)f.base - LO) % (UINT64_C(1) << 21) == 0);
        CHECK(reserved(f.base - PLAN_PAGE) && reserved(at(&f, HI)) && !readable(f.base - 1));
        munmap(f.base - PLAN_PAGE, HI - LO + 2 * PLAN_PAGE);
        close(f.fd);
    }
}

/* A read-only segment may be longer than its bytes in the file: the rest is zero, and as little to be written. */
static void read_only_zeroes_are_zero(void)
{
    static struct fixture f;

    setup(&f, 0);
    f.good.s[0].filesz = 0x1080;
    f.good.s[0].memsz = 0x4000;
    CHECK(map_image(&f.plan, f.fd, &f.base, &f.why));
    for (uint64_t i = 0; i < 0x4000; i++)
        CHECK(*at(&f, RODATA + i) == (i < 0x1080 ? file_byte(i) : 0));
    CHECK(!writable(at(&f, RODATA)) && !writable(at(&f, RODATA + 0x3fff)));
    munmap(f.base, HI - LO);
    close(f.fd);
}

static void segment_without_file_bytes_is_zero(void)
{
    static struct fixture f;

    setup(&f, 0);
    f.good.s[2].filesz = 0;
    CHECK(map_image(&f.plan, f.fd, &f.base, &f.why));
    for (uint64_t i = 0; i < 0x3000; i++)
        CHECK(*at(&f, DATA + i) == 0);
    CHECK(writable(at(&f, DATA)));
    munmap(f.base, HI - LO);
    close(f.fd);
}

static void relro_is_read_only(void)
{
    static struct fixture f;

    setup(&f, 0);
    f.good.s[2].memsz = HI - DATA;
    f.good.h.relro_size = 0x10000 - 1; /* ends in the next page: rounded down nothing of that is protected */
    f.good.h.relro = DATA;
    f.good.h.hi = HI + 0x10000;
    f.good.s[2].memsz += 0x10000;
    CHECK(map_image(&f.plan, f.fd, &f.base, &f.why) && map_relro(&f.plan, f.base, &f.why));
    CHECK(!writable(at(&f, DATA)) && !writable(at(&f, HI - 1)) && writable(at(&f, HI)));
    CHECK(!writable(at(&f, RODATA)) && *at(&f, DATA) == file_byte(0x3000));
    munmap(f.base, HI + 0x10000 - LO);

    /* the end of the last page is not mapped, and stays so */
    f.good = good_plan();
    CHECK(map_image(&f.plan, f.fd, &f.base, &f.why) && map_relro(&f.plan, f.base, &f.why));
    CHECK(!writable(at(&f, DATA)) && readable(at(&f, DATA_END - 1)) && !writable(at(&f, DATA_END - 1)));
    CHECK(!readable(at(&f, HI - 1)) && !readable(at(&f, 0x120000)));
    munmap(f.base, HI - LO);
    close(f.fd);
}

static void stack_has_its_size_and_a_guard(void)
{
    struct refusal why;
    void *lo, *hi;

    CHECK(map_stack(0x20000, &lo, &hi, &why));
    CHECK((uintptr_t)hi % 16 == 0 && (uint8_t *)hi - (uint8_t *)lo == 0x20000);
    CHECK(writable(lo) && writable((uint8_t *)hi - 1) && !readable((uint8_t *)lo - 1));
    CHECK(!map_stack(UINT64_MAX / 2, &lo, &hi, &why) && strstr(why.text, "[RUN-6]") != NULL);
}

static void a_file_that_changed_is_another(void)
{
    static struct fixture f;

    setup(&f, 0);
    CHECK(same_file(&f.good.h, f.fd));
    f.good.h.file_size++;
    CHECK(!same_file(&f.good.h, f.fd));
    f.good.h.file_size--;
    f.good.h.file_ino++;
    CHECK(!same_file(&f.good.h, f.fd));
    f.good.h.file_ino--;
    f.good.h.file_mtime_ns++;
    CHECK(!same_file(&f.good.h, f.fd));
    f.good.h.file_mtime_ns--;
    f.good.h.file_ctime_ns--;
    CHECK(!same_file(&f.good.h, f.fd));
    f.good.h.file_ctime_ns++;
    f.good.h.file_dev++;
    CHECK(!same_file(&f.good.h, f.fd));
    f.good.h.file_dev--;
    CHECK(same_file(&f.good.h, f.fd) && !same_file(&f.good.h, -1));
    close(f.fd);
}

static void what_cannot_be_mapped_is_said(void)
{
    static struct fixture f;

    setup(&f, 0);
    CHECK(!map_image(&f.plan, -1, &f.base, &f.why));
    CHECK(strstr(f.why.text, "a.ok: cannot be mapped") == f.why.text && strstr(f.why.text, "[RUN-2]") != NULL);
    close(f.fd);
}

int main(void)
{
    segments_lie_where_the_plan_says(0);
    segments_lie_where_the_plan_says(PLAN_PAGE);
    alignment_is_kept();
    read_only_zeroes_are_zero();
    segment_without_file_bytes_is_zero();
    relro_is_read_only();
    stack_has_its_size_and_a_guard();
    a_file_that_changed_is_another();
    what_cannot_be_mapped_is_said();
    return 0;
}
