/* A file that is begun has another name than a report, and is locked by the process that writes it: whoever reads the
 * directory can tell a run that goes on from one that ended without a report. It is never written over, and neither is
 * any other: names are only ever taken where there is none. */
#define _GNU_SOURCE /* renameat2 */
#include "report_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"

#define TRIES 8 /* to find a name: of two numbers of 64 random bits that are the same, one is not random */

static int directory = -1, file = -1;
static off_t to_keep;
static char id[64];

static struct {
    char begun[sizeof id + 16], whole[sizeof id + 16];
} names;

int report_file_place(const char *path)
{
    char part[PATH_MAX];
    size_t length = strlen(path);

    directory = host_open(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0);
    if (directory >= 0 || errno != ENOENT || length >= sizeof part)
        return directory >= 0 ? 0 : errno;
    for (size_t i = 1; i <= length; i++) {
        if (path[i] == '/' || path[i] == 0) {
            memcpy(part, path, i);
            part[i] = 0;
            (void)mkdir(part, 0777); /* one that is there already is as good; for any other reason the open fails */
        }
    }
    directory = host_open(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0);
    return directory >= 0 ? 0 : errno;
}

int report_file_directory(void)
{
    return directory;
}

const char *report_file_id(void)
{
    return id;
}

/* When, which process, and a number drawn for it: two processes may have one number, in two namespaces of such. */
static void make_names(uint64_t wall)
{
    uint64_t drawn;

    if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) != sizeof drawn) /* the machine has just started */
        drawn = wall * UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)&drawn;
    host_format(id, sizeof id, "%llx-%d-%llx", (unsigned long long)wall, (int)getpid(), (unsigned long long)drawn);
    host_format(names.begun, sizeof names.begun, ".okprof-%s.part", id);
    host_format(names.whole, sizeof names.whole, "okprof-%s.json", id);
}

static bool is_free(const char *name)
{
    struct stat file_of_it;

    return fstatat(directory, name, &file_of_it, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

int report_file_begin(uint64_t wall, int *fd)
{
    file = -1;
    to_keep = 0;
    errno = EEXIST;
    for (int tries = 0; file < 0 && errno == EEXIST && tries < TRIES; tries++) {
        make_names(wall);
        if (!is_free(names.whole))
            errno = EEXIST;
        else
            file = host_open(directory, names.begun, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    }
    if (file < 0)
        return errno;
    (void)flock(file, LOCK_EX | LOCK_NB);
    *fd = file;
    return 0;
}

void report_file_keep(void)
{
    to_keep = lseek(file, 0, SEEK_CUR);
}

int report_file_rename(int folder, const char *from, const char *to)
{
    if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    /* the file system, or the system, has no renaming that spares what is there: two names, then one */
    if (linkat(folder, from, folder, to, 0) != 0)
        return errno;
    (void)unlinkat(folder, from, 0);
    return 0;
}

int report_file_end(void)
{
    return report_file_rename(directory, names.begun, names.whole);
}

void report_file_fail(void)
{
    if (to_keep > 0)
        (void)ftruncate(file, to_keep);
    else
        (void)unlinkat(directory, names.begun, 0);
}

void report_file_leave(void)
{
    if (file >= 0)
        close(file); /* not unlocked: that would be the other's lock, too */
    file = -1;
}
