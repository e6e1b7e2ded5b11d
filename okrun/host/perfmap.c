/* The map of the image's code for perf: a line "START SIZE NAME" a range, numbers in hexadecimal without 0x.
 *
 * Where it lies is perf's choice, a folder in which anybody may have put something of that name before. */
#define _GNU_SOURCE /* strerrordesc_np */
#include "perfmap.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code.h"
#include "host.h"

#define MOST_NAME 4096u            /* of a name, in bytes */
#define LINE (40 + 4 * MOST_NAME) /* two numbers, and a name of which every byte is escaped */

struct lines {
    int fd, error;
    size_t used;
    char buffer[4 * LINE];
};

/* Whether a path is a file that an earlier process of this user, of the same number, has left. */
static bool is_left_over(const char *path)
{
    struct stat s;

    return lstat(path, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && s.st_nlink == 1;
}

/* Make the file anew; -1 and errno, EEXIST where there is something that is not to be removed. */
static int create(const char *path)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    int fd = host_open(AT_FDCWD, path, flags, 0600);

    if (fd >= 0 || errno != EEXIST)
        return fd;
    if (!is_left_over(path) || unlink(path) != 0) {
        errno = EEXIST;
        return -1;
    }
    return host_open(AT_FDCWD, path, flags, 0600);
}

static void flush(struct lines *lines)
{
    for (size_t done = 0; done < lines->used && lines->error == 0;) {
        ssize_t n = write(lines->fd, lines->buffer + done, lines->used - done);

        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            lines->error = n == 0 ? EIO : errno;
    }
    lines->used = 0;
}

static void add_line(struct lines *lines, struct code *code, const struct code_range *range)
{
    const struct plan_header *h = code->table.plan->header;
    char name[MOST_NAME + 1];
    size_t length = code_name(code, range, name, MOST_NAME);

    name[length < MOST_NAME ? length : MOST_NAME] = 0;
    if (sizeof lines->buffer - lines->used < LINE)
        flush(lines);
    lines->used += host_format(lines->buffer + lines->used, sizeof lines->buffer - lines->used, "%lx %lx %s\n",
                               (uintptr_t)host_image.base + (range->start - h->lo), range->end - range->start, name);
}

/* Ensures: 0, or errno and no file is left. */
static int write_lines(const char *path, struct code *code)
{
    static struct lines lines; /* one map is written at a time, and a task's stack is small */

    lines.fd = create(path);
    lines.error = lines.fd < 0 ? errno : 0;
    if (lines.fd < 0)
        return lines.error;
    for (size_t i = 0; i < code->count; i++)
        add_line(&lines, code, &code->ranges[i]);
    flush(&lines);
    if (close(lines.fd) != 0 && lines.error == 0)
        lines.error = errno;
    if (lines.error != 0)
        (void)unlink(path);
    return lines.error;
}

void perfmap_write(void)
{
    static struct code code;
    const char *reason;
    char path[32];
    int error;

    if (!code_read(&code, host_image.plan, host_image.fd, &reason)) {
        host_warn("no perf map: %s: %s", host_image.plan->path, reason);
        return;
    }
    host_format(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    error = write_lines(path, &code);
    code_free(&code);
    if (error == EEXIST)
        host_warn("no perf map: %s is not this user's own file: remove it", path);
    else if (error != 0)
        host_warn("no perf map: cannot write %s: %s", path, strerrordesc_np(error));
}
