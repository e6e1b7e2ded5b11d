#define _GNU_SOURCE
#include "fs_names.h"

#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "sys.h"

#define MAX_LINKS 40 /* as the kernel */
#define MAX_TRIES 16 /* of a name in which something is renamed each time */

static bool is_component(const char *name, size_t len)
{
    return len != 0 && len <= FS_MAX_NAME && !(len == 1 && name[0] == '.') &&
           !(len == 2 && name[0] == '.' && name[1] == '.');
}

/* By one look at each byte: most names are too short for a call of memchr() to pay. */
bool fs_is_name(const char *name, kal_uintptr len)
{
    size_t start = 0;

    if (name == NULL || len == 0 || len > FS_MAX_PATH)
        return false;
    if (len == 1 && name[0] == '.')
        return true;
    for (size_t i = 0; i < len; i++) {
        if (name[i] == 0)
            return false;
        if (name[i] == '/') {
            if (!is_component(name + start, i - start))
                return false;
            start = i + 1;
        }
    }
    return is_component(name + start, len - start);
}

/* A name on the way to its end, for kernels without openat2() and names that are too long for it. */
struct walk {
    struct fs_base base;
    int at;          /* the directory reached so far; base.fd, or open */
    char *passed;    /* the components between base and at, none of them a link, each with a "/" after it */
    size_t passed_len;
    char *ahead;     /* what is still to be walked, at the end of its buffer, which a NUL ends */
    size_t ahead_len;
    int links;
};

static void reach(struct walk *w, int fd)
{
    if (w->at != w->base.fd)
        close(w->at);
    w->at = fd;
}

/* openat() of one component, which may be a FIFO that is waited for; never through a link. */
static int open_component(int at, const char *component, int flags, mode_t mode)
{
    int fd;

    do {
        fd = openat(at, component, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

static int step(int at, const char *component)
{
    return open_component(at, component, O_PATH | O_DIRECTORY, 0);
}

/* Go back to the directory above, by the way that was walked: its own ".." may have been moved since. */
static int climb(struct walk *w)
{
    char *end = w->passed + w->passed_len, *next = w->passed;
    int at = w->base.fd;

    if (w->passed_len == 0)
        return w->base.is_root ? 0 : EXDEV;
    for (end--; end > w->passed && end[-1] != '/'; end--)
        ;
    w->passed_len = (size_t)(end - w->passed);
    while (next < end) {
        char *slash = memchr(next, '/', (size_t)(end - next));
        int fd, error;

        *slash = 0;
        fd = step(at, next);
        error = errno;
        *slash = '/';
        if (at != w->base.fd)
            close(at);
        if (fd < 0) {
            reach(w, w->base.fd);
            return error;
        }
        at = fd;
        next = slash + 1;
    }
    reach(w, at);
    return 0;
}

/* Whether a link is one that the kernel follows to what a process has open: its text is no name. */
static bool is_magic(int at, const char *target)
{
    struct statfs medium;

    return (target[0] == '/' || strchr(target, ':') != NULL) && fstatfs(at, &medium) == 0 &&
           medium.f_type == PROC_SUPER_MAGIC;
}

/* Put a link's target in front of what is ahead; EINVAL where component is no link. */
static int follow(struct walk *w, const char *component)
{
    char target[PATH_MAX];
    ssize_t got = readlinkat(w->at, component, target, sizeof target);
    size_t size = (size_t)got;

    if (got <= 0)
        return got == 0 ? ENOENT : errno;
    if (++w->links > MAX_LINKS || size == sizeof target || size + 1 + w->ahead_len > FS_MAX_PATH)
        return ELOOP;
    target[size] = 0;
    if (is_magic(w->at, target))
        return EXDEV;
    if (target[0] == '/') {
        if (!w->base.is_root)
            return EXDEV;
        reach(w, w->base.fd);
        w->passed_len = 0;
    }
    if (w->ahead_len != 0) {
        *--w->ahead = '/';
        w->ahead_len++;
    }
    w->ahead -= size;
    w->ahead_len += size;
    memcpy(w->ahead, target, size);
    return 0;
}

/* Whether component, which was seen to be neither a directory nor a link, is one of them by now. */
static bool was_exchanged(struct walk *w, const char *component)
{
    struct stat node;

    return fstatat(w->at, component, &node, AT_SYMLINK_NOFOLLOW) == 0 &&
           (S_ISDIR(node.st_mode) || S_ISLNK(node.st_mode)) && ++w->links <= MAX_LINKS;
}

/* Take the next component; its length, or 0 at the end. */
static size_t next_component(struct walk *w, char component[PATH_MAX])
{
    size_t size;
    char *slash;

    while (w->ahead_len != 0 && *w->ahead == '/') {
        w->ahead++;
        w->ahead_len--;
    }
    slash = memchr(w->ahead, '/', w->ahead_len);
    size = slash != NULL ? (size_t)(slash - w->ahead) : w->ahead_len;
    if (size >= PATH_MAX)
        size = PATH_MAX - 1; /* it will be too long for the kernel, too */
    memcpy(component, w->ahead, size);
    component[size] = 0;
    w->ahead += size;
    w->ahead_len -= size;
    return size;
}

/* Enter a directory, through a link where component is one. */
static int enter(struct walk *w, const char *component, size_t size)
{
    int fd;

    while ((fd = step(w->at, component)) < 0) {
        int error = errno == ENOTDIR || errno == ELOOP ? follow(w, component) : errno;

        if (error != EINVAL)
            return error;
        if (!was_exchanged(w, component))
            return ENOTDIR;
    }
    if (w->passed_len + size + 1 > FS_MAX_PATH) {
        close(fd);
        return ENAMETOOLONG;
    }
    reach(w, fd);
    memcpy(w->passed + w->passed_len, component, size);
    w->passed_len += size;
    w->passed[w->passed_len++] = '/';
    return 0;
}

/* Open the last component, or follow it. */
static int finish(struct walk *w, const char *component, int flags, mode_t mode, int *fd)
{
    for (;;) {
        int error = (flags & O_EXCL) == 0 ? follow(w, component) : EINVAL;
        struct stat node;

        if (error != EINVAL && error != ENOENT)
            return error;
        *fd = open_component(w->at, component, flags, mode);
        if (*fd >= 0 && ((flags & O_PATH) == 0 || fstat(*fd, &node) != 0 || !S_ISLNK(node.st_mode)))
            return 0;
        if (*fd >= 0) { /* it became a link just now */
            close(*fd);
            *fd = -1;
            errno = ELOOP;
        }
        error = errno;
        if ((error != ELOOP && error != ENOTDIR) || !was_exchanged(w, component))
            return error;
    }
}

static bool only_slashes(const char *text, size_t len)
{
    return len != 0 && strspn(text, "/") >= len;
}

/* Walk to the end: 0 and *fd, or an errno value. */
static int walk(struct walk *w, int flags, mode_t mode, int *fd)
{
    char component[PATH_MAX];

    for (;;) {
        size_t size = next_component(w, component);
        bool is_last = w->ahead_len == 0;
        int error;

        if (size == 0 || (is_last && strcmp(component, ".") == 0)) {
            *fd = openat(w->at, ".", flags | O_CLOEXEC, mode);
            return *fd < 0 ? errno : 0;
        }
        if ((flags & O_CREAT) != 0 && only_slashes(w->ahead, w->ahead_len))
            return EISDIR; /* a link says that a directory is there, and none is made by opening */
        if (strcmp(component, ".") == 0)
            continue;
        if (strcmp(component, "..") == 0)
            error = climb(w);
        else if (!is_last)
            error = enter(w, component, size);
        else
            error = finish(w, component, flags, mode, fd);
        if (error != 0 || *fd >= 0)
            return error;
    }
}

static int open_by_walk(struct fs_base base, const char *name, size_t len, int flags, mode_t mode)
{
    char *memory = malloc(2 * FS_MAX_PATH + 1);
    int fd = -1, error;
    struct walk w = {.base = base, .at = base.fd, .passed = memory, .ahead_len = len};

    if (memory == NULL)
        return -kal_err_no_memory;
    memory[2 * FS_MAX_PATH] = 0;
    w.ahead = memory + 2 * FS_MAX_PATH - len;
    memcpy(w.ahead, name, len);
    error = walk(&w, flags, mode, &fd);
    reach(&w, base.fd);
    free(memory);
    if (fd >= 0)
        fd = sys_keep(fd), error = errno;
    return fd >= 0 ? fd : -sys_error(error == EXDEV ? EACCES : error);
}

/* openat2(), or -1 with ENOSYS where the name has to be walked.
 *
 * Links of /proc that lead to what a process has open are refused by both ways of resolving beneath a directory. */
static int openat2_beneath(struct fs_base base, const char *path, int flags, mode_t mode)
{
    static int missing;
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .mode = (flags & O_CREAT) != 0 ? mode : 0,
        .resolve = base.is_root ? RESOLVE_IN_ROOT : RESOLVE_BENEATH,
    };
    int tries = 0;
    long fd;

    if (__atomic_load_n(&missing, __ATOMIC_RELAXED)) {
        errno = ENOSYS;
        return -1;
    }
    do { /* EAGAIN: something was renamed while it went through ".." */
        fd = syscall(SYS_openat2, base.fd, path, &how, sizeof how);
    } while (fd < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < MAX_TRIES)));
    if (fd < 0 && errno == ENOSYS)
        __atomic_store_n(&missing, 1, __ATOMIC_RELAXED);
    if (fd < 0 && (errno == EPERM || errno == EAGAIN)) /* EPERM: so says a sandbox that does not know the call */
        errno = ENOSYS;
    return (int)fd;
}

/* Open a name of one component that is no link, which leads nowhere else: the kernel need not watch it, which takes
 * longer. ELOOP for any other, as for a link. */
static int open_one(struct fs_base base, const char *path, int flags, mode_t mode)
{
    if ((flags & (O_PATH | O_DIRECTORY)) != 0 || strchr(path, '/') != NULL) {
        errno = ELOOP;
        return -1;
    }
    return open_component(base.fd, path, flags, mode);
}

int fs_open_at(struct fs_base base, const char *name, kal_uintptr len, int flags, mode_t mode)
{
    if (len < PATH_MAX) {
        char path[PATH_MAX];
        int fd;

        memcpy(path, name, len);
        path[len] = 0;
        fd = sys_keep(open_one(base, path, flags, mode));
        if (fd < 0 && errno == ELOOP)
            fd = sys_keep(openat2_beneath(base, path, flags, mode));
        if (fd >= 0)
            return fd;
        if (errno != ENOSYS)
            return -sys_error(errno == EXDEV ? EACCES : errno);
    }
    return open_by_walk(base, name, len, flags, mode);
}

int fs_find(struct fs_base base, const char *name, kal_uintptr len, struct fs_place *place)
{
    const char *slash = memrchr(name, '/', len), *last = slash != NULL ? slash + 1 : name;
    size_t size = (size_t)(name + len - last);

    memcpy(place->last, last, size);
    place->last[size] = 0;
    place->dir = base.fd;
    place->owned = slash != NULL;
    if (slash != NULL) {
        place->dir = fs_open_at(base, name, (size_t)(slash - name), O_PATH | O_DIRECTORY, 0);
        if (place->dir < 0)
            return -place->dir;
    }
    return kal_ok;
}

void fs_leave(struct fs_place *place)
{
    if (place->owned)
        close(place->dir);
}
