/* The file of a report: its names, its lock, and what is there already.                    SPEC: REP-4, REP-6 */
#define _GNU_SOURCE /* renameat2 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "report_file.h"

#define WALL UINT64_C(0x123)

/* Numbers that are drawn, one after the other, the last again and again. */
static const uint64_t *drawn;
static int rename_error; /* 0: the system's own */

ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    CHECK(size == sizeof *drawn && flags == GRND_NONBLOCK);
    memcpy(to, drawn, size);
    drawn += drawn[1] != 0;
    return (ssize_t)size;
}

int renameat2(int from, const char *a, int to, const char *b, unsigned flags)
{
    CHECK(flags == RENAME_NOREPLACE);
    errno = rename_error;
    return rename_error ? -1 : (int)syscall(SYS_renameat2, from, a, to, b, flags);
}

/* The name of a file of this process with a number drawn for it; two are kept. */
static const char *name(const char *form, unsigned number)
{
    static char text[2][64];
    static int turn;
    char id[40];

    turn = 1 - turn;
    CHECK(snprintf(id, sizeof id, "123-%d-%x", (int)getpid(), number) > 0);
    CHECK(snprintf(text[turn], sizeof text[turn], form, id) > 0);
    return text[turn];
}
#define PART(number) name(".okprof-%s.part", number)
#define WHOLE(number) name("okprof-%s.json", number)

static void make(const char *path, const char *text)
{
    FILE *file = fopen(path, "wx");

    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static off_t size_of(const char *path)
{
    struct stat file;

    return lstat(path, &file) == 0 ? file.st_size : -1;
}

static bool is_locked(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;

    CHECK(fd >= 0 && close(fd) == 0);
    return locked;
}

static int begin(const uint64_t *numbers)
{
    int fd = -1;

    drawn = numbers;
    CHECK(report_file_begin(WALL, &fd) == 0);
    return fd;
}

static void it_is_locked_and_not_inherited(void)
{
    int fd = begin((uint64_t[]){5, 0});

    CHECK(strcmp(report_file_id(), name("%s", 5)) == 0);
    CHECK(fd > 2 && fcntl(fd, F_GETFD) == FD_CLOEXEC && size_of(PART(5)) == 0 && is_locked(PART(5)));
    report_file_leave();
    CHECK(size_of(PART(5)) == 0 && !is_locked(PART(5)));
}

static void a_name_that_is_taken_is_not_taken(void)
{
    int fd;

    make(WHOLE(6), "another's");
    CHECK(symlink("nowhere", PART(7)) == 0);
    (void)begin((uint64_t[]){5, 6, 7, 8, 0});
    CHECK(strcmp(report_file_id(), name("%s", 8)) == 0 && size_of("nowhere") < 0 && size_of(WHOLE(6)) == 9);
    report_file_leave();
    drawn = (uint64_t[]){8, 0};
    CHECK(report_file_begin(WALL, &fd) == EEXIST);
}

static void it_gets_its_name_unless_that_is_taken(void)
{
    static const int errors[] = {0, EINVAL, ENOSYS}; /* then by links */

    for (unsigned i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        unsigned number = 0x10 + 2 * i;
        int fd = begin((uint64_t[]){number, 0});

        CHECK(write(fd, "whole", 5) == 5);
        rename_error = errors[i];
        CHECK(report_file_end() == 0);
        CHECK(size_of(WHOLE(number)) == 5 && size_of(PART(number)) < 0);
        report_file_leave();
        fd = begin((uint64_t[]){number + 1, 0});
        CHECK(write(fd, "later", 5) == 5);
        make(WHOLE(number + 1), "another's");
        CHECK(report_file_end() == EEXIST);
        CHECK(size_of(WHOLE(number + 1)) == 9 && size_of(PART(number + 1)) == 5);
        report_file_leave();
    }
    rename_error = EROFS;
    CHECK(report_file_end() == EROFS);
    rename_error = 0;
}

static void what_cannot_be_whole_goes_back(void)
{
    int fd = begin((uint64_t[]){0x20, 0});

    CHECK(write(fd, "head", 4) == 4);
    report_file_fail();
    CHECK(size_of(PART(0x20)) < 0);
    report_file_leave();
    fd = begin((uint64_t[]){0x21, 0});
    CHECK(write(fd, "head", 4) == 4);
    report_file_keep();
    CHECK(write(fd, "the rest", 8) == 8 && size_of(PART(0x21)) == 12);
    report_file_fail();
    CHECK(size_of(PART(0x21)) == 4);
    report_file_leave();
}

int main(void)
{
    CHECK(report_file_directory() < 0 && report_file_place("a/b") == 0 && report_file_directory() > 2);
    CHECK(fcntl(report_file_directory(), F_GETFD) == FD_CLOEXEC && chdir("a/b") == 0);
    it_is_locked_and_not_inherited();
    a_name_that_is_taken_is_not_taken();
    it_gets_its_name_unless_that_is_taken();
    what_cannot_be_whole_goes_back();
    CHECK(report_file_place("okprof-nothing/below") == 0 && report_file_place("okprof-nothing") == 0);
    make("file", "");
    CHECK(report_file_place("file/below") == ENOTDIR && report_file_directory() < 0);
    return 0;
}
