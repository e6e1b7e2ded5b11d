/* openkal.fs: what names stand for, and changing that.                                  SPEC: FS-2, FS-3, FS-6 */
#define _GNU_SOURCE
#include "fs_node.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "fs_dir.h"
#include "sys.h"

#define SECOND UINT64_C(1000000000)

/* What is seen of a node: by a name in a directory, or, with an empty one, by the directory's descriptor itself. */
struct seen {
    int dir;
    const char *name;
    int flags;
};

bool fs_is_info(const struct kal_node_info *out)
{
    return out != NULL && out->self_size >= offsetof(struct kal_node_info, size);
}

void fs_times(kal_u64 ns, struct timespec times[2])
{
    times[0] = (struct timespec){.tv_nsec = UTIME_OMIT};
    times[1] = (struct timespec){.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
}

static int kind_of(mode_t mode)
{
    return S_ISREG(mode)   ? kal_node_file
           : S_ISDIR(mode) ? kal_node_directory
           : S_ISLNK(mode) ? kal_node_link
                           : kal_node_other;
}

/* Write to the caller what is present, as far as there is room for it whole, and nothing else. */
static void give(const struct kal_node_info *full, kal_u32 present, struct kal_node_info *out)
{
#define FIELD(bit, name) {bit, offsetof(struct kal_node_info, name), sizeof full->name}
    static const struct {
        kal_u32 bit;
        size_t offset, size;
    } fields[] = {
        FIELD(KAL_INFO_SIZE, size),
        FIELD(KAL_INFO_MODIFIED, modified_ns),
        FIELD(KAL_INFO_IDENTITY, identity),
        FIELD(KAL_INFO_KIND, kind),
        FIELD(KAL_INFO_WRITABLE, writable),
    };
#undef FIELD

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (out->self_size < fields[i].offset + fields[i].size)
            present &= ~fields[i].bit;
        else if ((present & fields[i].bit) != 0)
            memcpy((char *)out + fields[i].offset, (const char *)full + fields[i].offset, fields[i].size);
    }
    out->present = present;
}

/* The name of what is open as fd, for calls that take none but names. */
struct itself {
    char name[sizeof "/proc/self/fd/" + 3 * sizeof(int)];
};

static struct itself itself(int fd)
{
    struct itself it;

    (void)snprintf(it.name, sizeof it.name, "/proc/self/fd/%d", fd);
    return it;
}

static bool may_write(const struct seen *seen)
{
    if (faccessat(seen->dir, seen->name, W_OK, AT_EACCESS | seen->flags) == 0)
        return true;
    if (errno != EINVAL || (seen->flags & AT_EMPTY_PATH) == 0) /* older kernels take no empty path here */
        return false;
    return faccessat(AT_FDCWD, itself(seen->dir).name, W_OK, AT_EACCESS) == 0;
}

static void fill(const struct stat *node, const struct seen *seen, kal_u32 wanted, struct kal_node_info *out)
{
    struct kal_node_info full = {.kind = kind_of(node->st_mode), .size = (kal_u64)node->st_size};
    kal_u32 present = wanted & (KAL_INFO_KIND | KAL_INFO_SIZE | KAL_INFO_IDENTITY);

    full.identity[0] = (kal_u64)node->st_dev;
    full.identity[1] = (kal_u64)node->st_ino;
    if (node->st_mtim.tv_sec >= 0 && (kal_u64)node->st_mtim.tv_sec < UINT64_MAX / SECOND) {
        full.modified_ns = (kal_u64)node->st_mtim.tv_sec * SECOND + (kal_u64)node->st_mtim.tv_nsec;
        present |= wanted & KAL_INFO_MODIFIED;
    }
    if ((wanted & KAL_INFO_WRITABLE) != 0) {
        full.writable = may_write(seen);
        present |= KAL_INFO_WRITABLE;
    }
    give(&full, present, out);
}

static int info(struct seen seen, kal_u32 wanted, struct kal_node_info *out)
{
    struct stat node;

    if (fstatat(seen.dir, seen.name, &node, seen.flags) != 0)
        return sys_error(errno);
    fill(&node, &seen, wanted, out);
    return kal_ok;
}

int fs_info_of(int fd, kal_u32 wanted, struct kal_node_info *out)
{
    return info((struct seen){fd, "", AT_EMPTY_PATH}, wanted, out);
}

/* Whatever is wanted: that there is nothing is all there is to know. */
static int absent(struct kal_node_info *out)
{
    struct kal_node_info none = {.kind = kal_node_absent};

    give(&none, KAL_INFO_KIND, out);
    return kal_ok;
}

/* What a name leads to, by opening it: links are followed, beneath the base. */
static int info_resolved(struct fs_base base, const char *name, kal_uintptr len, kal_u32 wanted,
                         struct kal_node_info *out)
{
    int fd = fs_open_at(base, name, len, O_PATH, 0), error;

    if (fd < 0)
        return -fd;
    error = fs_info_of(fd, wanted, out);
    close(fd);
    return error;
}

/* The node itself, a link not followed. In a name of one component, which is no link, nothing has to be opened. */
static int info_of_name(struct fs_base base, const char *name, kal_uintptr len, bool follows, kal_u32 wanted,
                        struct kal_node_info *out)
{
    struct fs_place place;
    struct stat node;
    int error;

    if (follows && memchr(name, '/', len) != NULL)
        return info_resolved(base, name, len, wanted, out);
    error = fs_find(base, name, len, &place);
    if (error != kal_ok)
        return error;
    if (fstatat(place.dir, place.last, &node, AT_SYMLINK_NOFOLLOW) != 0)
        error = sys_error(errno);
    else if (follows && S_ISLNK(node.st_mode))
        error = info_resolved(base, name, len, wanted, out);
    else
        fill(&node, &(struct seen){place.dir, place.last, AT_SYMLINK_NOFOLLOW}, wanted, out);
    fs_leave(&place);
    return error;
}

/* Ensures:  kal_ok with the kind absent where the name leads to nothing; kal_err_invalid for another flag than
 *           KAL_FS_NO_RESOLVE, for no name and for a self_size below 8; what is not known is not present.
 * SPEC: FS-6 */
int kal_fs_info(struct kal_dir base, const char *name, kal_uintptr len, kal_uintptr flags, kal_u32 wanted,
                struct kal_node_info *out)
{
    struct fs_base at;
    struct handle *handle = NULL;
    int error;

    if ((flags & ~(kal_uintptr)KAL_FS_NO_RESOLVE) == 0 && fs_is_info(out) && fs_is_name(name, len))
        handle = fs_dir(base.h, &at);
    if (handle == NULL)
        return kal_err_invalid;
    error = info_of_name(at, name, len, (flags & KAL_FS_NO_RESOLVE) == 0, wanted, out);
    handle_put(handle);
    return error == kal_err_not_found ? absent(out) : error;
}

/* Find the place that a name stands for, of a directory that was named by a handle.
 * Ensures:  kal_ok, the handle, and the place; or the error, and nothing to give back. */
static int find(struct kal_dir base, const char *name, kal_uintptr len, struct handle **handle,
                struct fs_place *place)
{
    struct fs_base at;
    int error;

    *handle = fs_is_name(name, len) ? fs_dir(base.h, &at) : NULL;
    if (*handle == NULL)
        return kal_err_invalid;
    error = fs_find(at, name, len, place);
    if (error != kal_ok)
        handle_put(*handle);
    return error;
}

static void leave(struct handle *handle, struct fs_place *place)
{
    fs_leave(place);
    handle_put(handle);
}

/* Ensures:  kal_err_exists where there is anything of that name, a link that leads nowhere, too. SPEC: FS-10 */
int kal_fs_mkdir(struct kal_dir base, const char *name, kal_uintptr len)
{
    struct handle *handle;
    struct fs_place place;
    int error = find(base, name, len, &handle, &place);

    if (error != kal_ok)
        return error;
    error = mkdirat(place.dir, place.last, 0777) == 0 ? kal_ok : sys_error(errno);
    leave(handle, &place);
    return error;
}

/* Remove what is no directory, else an empty directory. Which it is may change between the two: then it is tried again
 * by the next caller. */
static int remove_at(const struct fs_place *place)
{
    if (unlinkat(place->dir, place->last, 0) == 0)
        return kal_ok;
    if (errno != EISDIR && errno != EPERM) /* POSIX says EPERM for a directory */
        return sys_error(errno);
    if (unlinkat(place->dir, place->last, AT_REMOVEDIR) == 0)
        return kal_ok;
    return sys_error(errno == ENOTDIR ? EPERM : errno);
}

/* Ensures:  the name is gone; kal_err_not_empty for a directory in which something is. A link goes, not what it leads
 *           to; what is open stays so.                                                            SPEC: FS-10 */
int kal_fs_remove(struct kal_dir base, const char *name, kal_uintptr len)
{
    struct handle *handle;
    struct fs_place place;
    int error = find(base, name, len, &handle, &place);

    if (error != kal_ok)
        return error;
    error = remove_at(&place);
    leave(handle, &place);
    return error;
}

static bool is_itself(const struct fs_place *place)
{
    return strcmp(place->last, ".") == 0;
}

static int rename_at(const struct fs_place *from, const struct fs_place *to)
{
    if (is_itself(from) || is_itself(to)) /* the system says EBUSY, as if that could change */
        return kal_err_invalid;
    return renameat(from->dir, from->last, to->dir, to->last) == 0 ? kal_ok : sys_error(errno);
}

/* Ensures:  in one step: a file in the place of a file, a directory in that of an empty one; kal_err_not_supported
 *           across file systems; kal_err_invalid for "." and for a directory into itself.         SPEC: FS-10 */
int kal_fs_rename(struct kal_dir from, const char *a, kal_uintptr alen, struct kal_dir to, const char *b,
                  kal_uintptr blen)
{
    struct handle *old_handle, *new_handle;
    struct fs_place old_place, new_place;
    int error = find(from, a, alen, &old_handle, &old_place);

    if (error != kal_ok)
        return error;
    error = find(to, b, blen, &new_handle, &new_place);
    if (error == kal_ok) {
        error = rename_at(&old_place, &new_place);
        leave(new_handle, &new_place);
    }
    leave(old_handle, &old_place);
    return error;
}

/* Set the time of what is open as fd, which may be open as a place only. */
static int set_modified(int fd, kal_u64 ns)
{
    struct timespec times[2];

    fs_times(ns, times);
    if (utimensat(fd, "", times, AT_EMPTY_PATH) == 0)
        return kal_ok;
    if (errno != EINVAL && errno != ENOENT && errno != EBADF) /* older kernels take no empty path here */
        return sys_error(errno);
    return utimensat(AT_FDCWD, itself(fd).name, times, 0) == 0 ? kal_ok : sys_error(errno);
}

/* Ensures:  as kal_fs_set_modified(), of what the name leads to.                                 SPEC: FS-11 */
int kal_fs_set_modified_at(struct kal_dir base, const char *name, kal_uintptr len, kal_u64 ns)
{
    struct fs_base at;
    struct handle *handle = fs_is_name(name, len) ? fs_dir(base.h, &at) : NULL;
    int fd, error;

    if (handle == NULL)
        return kal_err_invalid;
    fd = fs_open_at(at, name, len, O_PATH, 0);
    error = fd < 0 ? -fd : set_modified(fd, ns);
    if (fd >= 0)
        close(fd);
    handle_put(handle);
    return error;
}

/* Ensures:  a link that says target, which is any text of 1 to 4,095 bytes without a NUL; where it leads is looked at
 *           when it is followed.                                                                  SPEC: FS-9 */
int kal_fs_link_create(struct kal_dir base, const char *name, kal_uintptr len, const char *target,
                       kal_uintptr target_len, kal_uintptr flags)
{
    char text[PATH_MAX];
    struct handle *handle;
    struct fs_place place;
    int error;

    if ((flags & ~(kal_uintptr)KAL_FS_LINK_DIRECTORY) != 0 || target == NULL || target_len == 0 ||
        target_len >= sizeof text || memchr(target, 0, target_len) != NULL)
        return kal_err_invalid;
    memcpy(text, target, target_len);
    text[target_len] = 0;
    error = find(base, name, len, &handle, &place);
    if (error != kal_ok)
        return error;
    error = symlinkat(text, place.dir, place.last) == 0 ? kal_ok : sys_error(errno);
    leave(handle, &place);
    return error;
}

/* Ensures:  the length of the target, however much was copied; -kal_err_invalid for what is no link. SPEC: FS-9 */
kal_intptr kal_fs_link_read(struct kal_dir base, const char *name, kal_uintptr len, char *out, kal_uintptr cap)
{
    char text[PATH_MAX];
    struct handle *handle;
    struct fs_place place;
    ssize_t got;
    int error;

    if (!sys_is_buffer(out, cap))
        return -kal_err_invalid;
    error = find(base, name, len, &handle, &place);
    if (error != kal_ok)
        return -error;
    got = readlinkat(place.dir, place.last, text, sizeof text);
    error = got < 0 ? sys_error(errno) : kal_ok;
    leave(handle, &place);
    return error == kal_ok ? sys_copy_out(text, (size_t)got, out, cap) : -error;
}
