/* Locks of openkal.fs.                                                                             SPEC: FS-7 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>

#include "interrupt.h"
#include "kal_fs.h"

#define READ KAL_OPEN_READ
#define WRITE KAL_OPEN_WRITE
#define BOTH (READ | WRITE)

static struct kal_dir top;

static struct kal_file open_file(const char *name, kal_uintptr flags)
{
    struct kal_file file;

    CHECK(kal_fs_open(top, name, strlen(name), flags, &file) == kal_ok);
    return file;
}

/* A lock of another process: from a child that holds it until it is told to end. */
static pid_t hold_in_child(short type, off_t start, off_t len, int *until)
{
    int ready[2], end[2];
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};
    char byte;
    pid_t child;

    CHECK(pipe(ready) == 0 && pipe(end) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int fd = open("f", O_RDWR);

        close(end[1]);
        CHECK(fd >= 0 && fcntl(fd, F_SETLK, &range) == 0 && write(ready[1], "x", 1) == 1);
        CHECK(read(end[0], &byte, 1) == 0);
        _exit(0);
    }
    close(end[0]), close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    *until = end[1];
    return child;
}

static void *close_late(void *fd)
{
    nanosleep(&(struct timespec){0, 30000000}, NULL);
    CHECK(close(*(int *)fd) == 0);
    return NULL;
}

static void locks_keep_others_out(void)
{
    struct kal_file one = open_file("f", BOTH | KAL_OPEN_CREATE), other = open_file("f", BOTH);
    struct kal_file reads_only = open_file("f", READ), writes_only = open_file("f", WRITE);
    int until;
    pid_t child;
    pthread_t thread;

    CHECK(kal_fs_lock(one, 0, 0, KAL_LOCK_EXCLUSIVE) == kal_ok);
    CHECK(kal_fs_lock(one, 0, 0, KAL_LOCK_EXCLUSIVE) == kal_ok); /* its own is not in its way */
    CHECK(kal_fs_lock(other, 99, 1, KAL_LOCK_SHARED) == kal_err_again);
    CHECK(kal_fs_lock(one, 0, 0, KAL_LOCK_SHARED) == kal_ok && kal_fs_lock(other, 99, 1, KAL_LOCK_SHARED) == kal_ok);
    CHECK(kal_fs_lock(other, 99, 1, KAL_LOCK_EXCLUSIVE) == kal_err_again);
    CHECK(kal_fs_unlock(one, 99, 1) == kal_ok && kal_fs_lock(other, 99, 1, KAL_LOCK_EXCLUSIVE) == kal_ok);
    CHECK(kal_fs_lock(other, 98, 1, KAL_LOCK_EXCLUSIVE) == kal_err_again);
    kal_fs_close_file(one); /* its locks end with it, and not the other's */
    CHECK(kal_fs_lock(reads_only, 99, 1, KAL_LOCK_SHARED) == kal_err_again);
    CHECK(kal_fs_lock(other, 98, 1, KAL_LOCK_EXCLUSIVE) == kal_ok);
    CHECK(kal_fs_unlock(other, 0, 0) == kal_ok && kal_fs_unlock(other, 5, 5) == kal_ok);

    CHECK(kal_fs_lock(reads_only, 0, 1, KAL_LOCK_EXCLUSIVE) == kal_err_permission);
    CHECK(kal_fs_lock(writes_only, 0, 1, KAL_LOCK_SHARED) == kal_err_permission);
    for (kal_uintptr mode = 0; mode < 16; mode++) {
        bool means = mode < 8 && ((mode & 3) == KAL_LOCK_SHARED || (mode & 3) == KAL_LOCK_EXCLUSIVE);

        CHECK(kal_fs_lock(other, 0, 1, mode) == (means ? kal_ok : kal_err_invalid));
    }
    CHECK(kal_fs_lock(other, UINT64_MAX, 1, KAL_LOCK_SHARED) == kal_err_invalid);
    CHECK(kal_fs_lock(other, 1, UINT64_MAX, KAL_LOCK_SHARED) == kal_err_invalid);
    CHECK(kal_fs_lock(other, INT64_MAX, INT64_MAX, KAL_LOCK_SHARED) == kal_err_invalid);
    CHECK(kal_fs_lock(other, INT64_MAX, 1, KAL_LOCK_SHARED) == kal_ok);
    CHECK(kal_fs_lock((struct kal_file){top.h}, 0, 0, KAL_LOCK_SHARED) == kal_err_invalid);
    CHECK(kal_fs_unlock((struct kal_file){one.h}, 0, 0) == kal_err_invalid);
    CHECK(kal_fs_unlock(other, 0, 0) == kal_ok);

    child = hold_in_child(F_WRLCK, 10, 10, &until);
    CHECK(kal_fs_lock(other, 0, 10, KAL_LOCK_EXCLUSIVE) == kal_ok);
    CHECK(kal_fs_lock(other, 0, 11, KAL_LOCK_EXCLUSIVE) == kal_err_again);
    CHECK(pthread_create(&thread, NULL, close_late, &until) == 0);
    interrupt(true);
    CHECK(kal_fs_lock(other, 0, 11, KAL_LOCK_EXCLUSIVE | KAL_LOCK_WAIT) == kal_ok);
    interrupt(false);
    CHECK(pthread_join(thread, NULL) == 0 && waitpid(child, NULL, 0) == child);
    kal_fs_close_file(other), kal_fs_close_file(reads_only), kal_fs_close_file(writes_only);
    CHECK(unlink("f") == 0);
}

int main(void)
{
    top = fresh("locks");
    locks_keep_others_out();
    leave(top);
    CHECK(rmdir("locks") == 0);
    return 0;
}
