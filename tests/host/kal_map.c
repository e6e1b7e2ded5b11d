/* openkal.map of the native host.                                                               SPEC: MAP-1 to MAP-4 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <openkal/map.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kal/handle.h"
#include "memory_of.h"

#define PAGES 4

static kal_uintptr page;

/* A file of so many pages and a half, whose bytes tell where they are; and its handle. */
struct file {
    int fd;
    struct kal_file file;
};

static char byte_at(kal_uintptr offset)
{
    return (char)(offset * 7 + offset / 251);
}

static struct file opened(int fd)
{
    struct file f = {fd, {handle_new(HANDLE_FILE, fd, NULL, NULL)}};

    CHECK(fd >= 0 && f.file.h != 0);
    return f;
}

static kal_uintptr size_of_file(void)
{
    return PAGES * page + page / 2;
}

static struct file temporary(void)
{
    struct file f = opened(memfd_create("bytes", MFD_CLOEXEC));

    for (kal_uintptr i = 0; i < size_of_file(); i++)
        CHECK(pwrite(f.fd, &(char){byte_at(i)}, 1, (off_t)i) == 1);
    return f;
}

/* The same file, opened in another way. */
static struct file again(struct file f, int flags)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", f.fd);
    return opened(open(path, flags | O_CLOEXEC));
}

static void close_file(struct file f)
{
    CHECK(handle_close(HANDLE_FILE, f.file.h) == kal_ok);
}

static char *mapped(struct file f, kal_u64 offset, kal_uintptr size, kal_uintptr access)
{
    void *p = NULL;

    CHECK(kal_map_file(f.file, offset, size, access, &p) == kal_ok && p != NULL && (uintptr_t)p % page == 0);
    return p;
}

static int refused(struct file f, kal_u64 offset, kal_uintptr size, kal_uintptr access)
{
    void *p = &p;
    int error = kal_map_file(f.file, offset, size, access, &p);

    CHECK(error != kal_ok && p == &p);
    return error;
}

static char in_file(struct file f, kal_uintptr offset)
{
    char byte;

    CHECK(pread(f.fd, &byte, 1, (off_t)offset) == 1);
    return byte;
}

static void a_mapping_is_the_files_bytes(void)
{
    static const kal_uintptr all[] = {KAL_MAP_READ, KAL_MAP_READ | KAL_MAP_WRITE, KAL_MAP_READ | KAL_MAP_PRIVATE};
    static const char *const permitted[] = {"r--s", "rw-s", "rw-p"};
    struct file f = temporary();

    for (int way = 0; way < 3; way++) {
        for (kal_uintptr first = 0; first < PAGES; first++) {
            kal_uintptr size = size_of_file() - first * page;
            char *p = mapped(f, first * page, size, all[way]);

            for (kal_uintptr i = 0; i < size; i++)
                CHECK(p[i] == byte_at(first * page + i));
            CHECK(strcmp(permissions(p), permitted[way]) == 0);
            CHECK(kal_map_release(p, size) == kal_ok && strcmp(permissions(p), "") == 0);
        }
    }
    close_file(f);
}

static void changes_go_where_the_access_says(void)
{
    struct file f = temporary();
    char *shared = mapped(f, page, page, KAL_MAP_READ | KAL_MAP_WRITE), *own, *read_only;

    own = mapped(f, page, page, KAL_MAP_READ | KAL_MAP_PRIVATE);
    read_only = mapped(f, page, page, KAL_MAP_READ);
    shared[5] = 'S';
    CHECK(in_file(f, page + 5) == 'S' && read_only[5] == 'S');
    own[6] = 'P';
    CHECK(own[6] == 'P' && in_file(f, page + 6) == byte_at(page + 6) && shared[6] == byte_at(page + 6));
    CHECK(kal_map_flush(own, page) == kal_ok && in_file(f, page + 6) == byte_at(page + 6));
    CHECK(pwrite(f.fd, "W", 1, (off_t)page + 7) == 1 && shared[7] == 'W' && read_only[7] == 'W');
    CHECK(fault_at(read_only, 1) == SIGSEGV && fault_at(read_only, 0) == 0);
    CHECK(kal_map_release(shared, page) == kal_ok && kal_map_release(own, page) == kal_ok);
    CHECK(in_file(f, page + 5) == 'S' && kal_map_release(read_only, page) == kal_ok);
    close_file(f);
}

static void a_part_can_be_flushed(void)
{
    struct file f = temporary();
    kal_uintptr size = 2 * page + 10;
    char *p = mapped(f, 0, size, KAL_MAP_READ | KAL_MAP_WRITE);
    int here;

    p[page + 3] = 'F';
    CHECK(kal_map_flush(p, size) == kal_ok && kal_map_flush(p + page + 3, 1) == kal_ok);
    CHECK(kal_map_flush(p + size - 1, 1) == kal_ok && in_file(f, page + 3) == 'F');
    CHECK(kal_map_flush(p, 0) == kal_err_invalid && kal_map_flush(NULL, 1) == kal_err_invalid);
    CHECK(kal_map_flush(&here, 1) == kal_err_invalid && kal_map_flush(p - 1, 1) == kal_err_invalid);
    CHECK(kal_map_flush(p, 3 * page + 1) == kal_err_invalid && kal_map_flush(p + 3 * page, 1) == kal_err_invalid);
    CHECK(kal_map_flush(p, UINT64_MAX) == kal_err_invalid);
    CHECK(kal_map_flush(p + 1, UINT64_MAX - (uintptr_t)p) == kal_err_invalid);
    CHECK(kal_map_release(p, size) == kal_ok && kal_map_flush(p, 1) == kal_err_invalid);
    close_file(f);
}

static void what_cannot_be_mapped_is_refused(void)
{
    struct file f = temporary(), none = {0, {12345}};
    void *p;

    CHECK(refused(f, 0, 0, KAL_MAP_READ) == kal_err_invalid);
    CHECK(refused(f, 1, page, KAL_MAP_READ) == kal_err_invalid);
    CHECK(refused(f, page / 2, 1, KAL_MAP_READ) == kal_err_invalid);
    CHECK(refused(f, 0, size_of_file() + 1, KAL_MAP_READ) == kal_err_invalid);
    CHECK(refused(f, PAGES * page, page / 2 + 1, KAL_MAP_READ) == kal_err_invalid);
    CHECK(refused(f, (PAGES + 1) * page, 1, KAL_MAP_READ) == kal_err_invalid);
    CHECK(refused(f, UINT64_MAX - page + 1, page, KAL_MAP_READ) == kal_err_invalid);
    CHECK(refused(f, page, UINT64_MAX - page + 1, KAL_MAP_READ) == kal_err_invalid);
    CHECK(refused(f, (kal_u64)1 << 63, page, KAL_MAP_READ) == kal_err_invalid);
    CHECK(refused(f, 0, (kal_uintptr)1 << 63, KAL_MAP_READ) == kal_err_invalid);
    for (kal_uintptr access = 0; access < 32; access++) {
        if (access != KAL_MAP_READ && access != (KAL_MAP_READ | KAL_MAP_WRITE) &&
            access != (KAL_MAP_READ | KAL_MAP_PRIVATE))
            CHECK(refused(f, 0, page, access) == kal_err_invalid);
    }
    CHECK(refused(f, 0, page, KAL_MAP_READ | (kal_uintptr)1 << 63) == kal_err_invalid);
    CHECK(refused(none, 0, page, KAL_MAP_READ) == kal_err_invalid);
    CHECK(kal_map_file(f.file, 0, page, KAL_MAP_READ, NULL) == kal_err_invalid);
    CHECK(kal_map_file(f.file, PAGES * page, page / 2, KAL_MAP_READ, &p) == kal_ok); /* to its very end */
    CHECK(kal_map_release(p, page / 2) == kal_ok);
    CHECK(kal_map_props() == KAL_MAP_PROP_SHARED && kal_map_granularity() == page);
    close_file(f);
}

static void a_file_gives_what_it_was_opened_for(void)
{
    struct file f = temporary(), reads = again(f, O_RDONLY), writes = again(f, O_WRONLY);
    struct file zero = opened(open("/dev/zero", O_RDWR | O_CLOEXEC)), list = opened(open("/proc/self/maps", O_RDONLY));
    char *p;

    CHECK(refused(reads, 0, page, KAL_MAP_READ | KAL_MAP_WRITE) == kal_err_permission);
    CHECK(refused(writes, 0, page, KAL_MAP_READ) == kal_err_permission);
    CHECK(refused(writes, 0, page, KAL_MAP_READ | KAL_MAP_WRITE) == kal_err_permission);
    p = mapped(reads, 0, page, KAL_MAP_READ | KAL_MAP_PRIVATE);
    p[0] = 'P';
    CHECK(in_file(f, 0) == byte_at(0) && kal_map_release(p, page) == kal_ok);
    CHECK(refused(zero, 0, page, KAL_MAP_READ) == kal_err_not_supported);
    CHECK(refused(list, 0, page, KAL_MAP_READ) == kal_err_invalid); /* it has no bytes, by its size */
    close_file(f);
    close_file(reads);
    close_file(writes);
    close_file(zero);
    close_file(list);
}

static void a_mapping_outlives_its_handle_and_its_file_does_not(void)
{
    struct file f = temporary(), other = again(f, O_RDWR);
    char *p = mapped(f, 0, size_of_file(), KAL_MAP_READ | KAL_MAP_WRITE);

    close_file(f);
    CHECK(p[3 * page] == byte_at(3 * page));
    p[0] = 'C';
    CHECK(in_file(other, 0) == 'C');
    CHECK(ftruncate(other.fd, (off_t)page) == 0);
    CHECK(fault_at(p + page - 1, 1) == 0 && fault_at(p + page, 0) == SIGBUS && fault_at(p + 3 * page, 1) == SIGBUS);
    CHECK(kal_map_release(p, size_of_file()) == kal_ok);
    close_file(other);
}

static void only_a_mapping_is_released(void)
{
    struct file f = temporary();
    char *p = mapped(f, 0, 2 * page, KAL_MAP_READ), *second = mapped(f, 0, 2 * page, KAL_MAP_READ);
    int here;

    CHECK(p != second);
    CHECK(kal_map_release(NULL, 0) == kal_err_invalid && kal_map_release(&here, 1) == kal_err_invalid);
    CHECK(kal_map_release(p, page) == kal_err_invalid && kal_map_release(p + page, page) == kal_err_invalid);
    CHECK(kal_map_release(p, 3 * page) == kal_err_invalid && kal_map_release(p, 0) == kal_err_invalid);
    CHECK(p[page] == byte_at(page));
    CHECK(kal_map_release(p, 2 * page) == kal_ok && kal_map_release(p, 2 * page) == kal_err_invalid);
    CHECK(second[page] == byte_at(page) && kal_map_release(second, 2 * page) == kal_ok);
    close_file(f);
}

int main(void)
{
    page = kal_map_granularity();
    a_mapping_is_the_files_bytes();
    changes_go_where_the_access_says();
    a_part_can_be_flushed();
    what_cannot_be_mapped_is_refused();
    a_file_gives_what_it_was_opened_for();
    a_mapping_outlives_its_handle_and_its_file_does_not();
    only_a_mapping_is_released();
    return 0;
}
