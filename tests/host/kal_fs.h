/* A program of the host's openkal.fs: its directory is the working directory. */
#ifndef TEST_KAL_FS_H
#define TEST_KAL_FS_H

#include <dirent.h>
#include <fcntl.h>
#include <openkal/fs.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "host.h"
#include "kal/handle.h"

#define NAME(text) (text), sizeof(text) - 1

static struct plan test_plan;
struct image host_image = {.plan = &test_plan};

static inline struct kal_dir working_directory(void)
{
    struct kal_dir dir;
    kal_uintptr length;

    CHECK(kal_fs_preopen(0, &dir, NULL, 0, &length) == kal_ok && length == 1);
    return dir;
}

static inline struct kal_dir root(void)
{
    struct kal_dir dir;
    kal_uintptr length;

    CHECK(kal_fs_preopen(1, &dir, NULL, 0, &length) == kal_ok && length == 1);
    return dir;
}

/* Make a directory by the system, and enter it. */
static inline struct kal_dir fresh(const char *name)
{
    CHECK(mkdir(name, 0777) == 0 && chdir(name) == 0);
    return working_directory();
}

static inline void leave(struct kal_dir dir)
{
    kal_fs_close_dir(dir);
    CHECK(chdir("..") == 0);
}

/* A file with a text in it, made by the system. */
static inline void put(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);

    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
}

/* How many descriptors are open. */
static inline int open_descriptors(void)
{
    DIR *list = opendir("/proc/self/fd");
    int count = -1; /* that of the list */

    CHECK(list != NULL);
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

#endif
