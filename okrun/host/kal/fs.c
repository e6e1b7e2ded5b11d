/* openkal.fs: files that are open.                                                        SPEC: FS-4 to FS-7 */
#define _GNU_SOURCE
#include <openkal/fs.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "fs_dir.h"
#include "fs_node.h"
#include "sys.h"

#define OPEN_FLAGS                                                                                                     \
    (KAL_OPEN_READ | KAL_OPEN_WRITE | KAL_OPEN_CREATE | KAL_OPEN_EXCLUSIVE | KAL_OPEN_TRUNCATE | KAL_OPEN_APPEND)
#define LOCK_MODES (KAL_LOCK_SHARED | KAL_LOCK_EXCLUSIVE | KAL_LOCK_WAIT)
#define MSDOS_MAGIC 0x4d44
#define EXFAT_MAGIC 0x2011bab0

/* What open() takes for flags, or -1 for a combination that means nothing. */
static int open_flags(kal_uintptr flags)
{
    static const int access[] = {-1, O_RDONLY, O_WRONLY, O_RDWR};
    bool writes = (flags & KAL_OPEN_WRITE) != 0;
    int result = access[flags & (KAL_OPEN_READ | KAL_OPEN_WRITE)];

    if ((flags & ~(kal_uintptr)OPEN_FLAGS) != 0 || result < 0 ||
        (!writes && (flags & (KAL_OPEN_TRUNCATE | KAL_OPEN_APPEND)) != 0) ||
        ((flags & KAL_OPEN_EXCLUSIVE) != 0 && (flags & KAL_OPEN_CREATE) == 0))
        return -1;
    return result | O_NOCTTY | ((flags & KAL_OPEN_CREATE) != 0 ? O_CREAT : 0) |
           ((flags & KAL_OPEN_EXCLUSIVE) != 0 ? O_EXCL : 0) | ((flags & KAL_OPEN_TRUNCATE) != 0 ? O_TRUNC : 0) |
           ((flags & KAL_OPEN_APPEND) != 0 ? O_APPEND : 0);
}

/* To list what is no directory is refused before anything else is looked at, which is the shortest way to ask. */
static bool is_directory(int fd)
{
    struct stat node;
    char nothing;

    if (syscall(SYS_getdents64, fd, &nothing, sizeof nothing) < 0 && errno == ENOTDIR)
        return false;
    return fstat(fd, &node) == 0 && S_ISDIR(node.st_mode);
}

static int open_file(struct fs_base base, const char *name, kal_uintptr len, int flags, struct kal_file *out)
{
    int fd = fs_open_at(base, name, len, flags, 0666);
    kal_uintptr word;

    if (fd < 0)
        return -fd;
    if ((flags & O_ACCMODE) == O_RDONLY && is_directory(fd)) {
        close(fd); /* to write one is refused by the system */
        return kal_err_is_directory;
    }
    word = handle_new(HANDLE_FILE, fd, NULL, NULL);
    if (word == 0) {
        close(fd);
        return kal_err_no_memory;
    }
    out->h = word;
    return kal_ok;
}

/* Ensures:  kal_err_invalid for flags that mean nothing together, a word that is no directory and what is no name;
 *           kal_err_is_directory for a directory. A FIFO is waited for until its other end is open.
 * SPEC: FS-2, FS-4 */
int kal_fs_open(struct kal_dir base, const char *name, kal_uintptr len, kal_uintptr flags, struct kal_file *out)
{
    int how = open_flags(flags);
    struct fs_base at;
    struct handle *handle = out != NULL && how >= 0 && fs_is_name(name, len) ? fs_dir(base.h, &at) : NULL;
    int error;

    if (handle == NULL)
        return kal_err_invalid;
    error = open_file(at, name, len, how, out);
    handle_put(handle);
    return error;
}

void kal_fs_close_file(struct kal_file file)
{
    (void)handle_close(HANDLE_FILE, file.h);
}

/* Ensures:  a stream that ends with the file; 0 for a word that is no file. */
struct kal_stream kal_fs_stream(struct kal_file file)
{
    struct handle *handle = handle_get(HANDLE_FILE, file.h);

    if (handle == NULL)
        return (struct kal_stream){0};
    handle_put(handle);
    return handle_stream(file.h);
}

/* Ensures:  kal_err_invalid where the position would be below 0, kal_err_not_supported where there are no positions.
 * SPEC: FS-5 */
int kal_fs_seek(struct kal_file file, kal_i64 offset, int whence, kal_u64 *result)
{
    static const int from[] = {[KAL_SEEK_SET] = SEEK_SET, [KAL_SEEK_CURRENT] = SEEK_CUR, [KAL_SEEK_END] = SEEK_END};
    struct handle *handle = whence >= 0 && whence <= KAL_SEEK_END ? handle_get(HANDLE_FILE, file.h) : NULL;
    off_t position;
    int error;

    if (handle == NULL)
        return kal_err_invalid;
    position = lseek(handle->fd, offset, from[whence]);
    error = position >= 0 ? kal_ok : sys_error(errno);
    handle_put(handle);
    if (error == kal_ok && result)
        *result = (kal_u64)position;
    return error;
}

/* Whether a file was opened so that it can be written. */
static bool is_writable(const struct handle *handle)
{
    int flags = fcntl(handle->fd, F_GETFL);

    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

/* Ensures:  kal_err_permission for a file that was not opened to write.                           SPEC: FS-5 */
int kal_fs_truncate(struct kal_file file, kal_u64 size)
{
    struct handle *handle = handle_get(HANDLE_FILE, file.h);
    int error = kal_ok;

    if (handle == NULL)
        return kal_err_invalid;
    if (!is_writable(handle))
        error = kal_err_permission;
    else if (size > INT64_MAX)
        error = kal_err_no_space;
    else
        SYS_RETRY(error, ftruncate(handle->fd, (off_t)size));
    handle_put(handle);
    return error;
}

/* Ensures:  as kal_fs_info().                                                                     SPEC: FS-6 */
int kal_fs_file_info(struct kal_file file, kal_u32 wanted, struct kal_node_info *out)
{
    struct handle *handle = fs_is_info(out) ? handle_get(HANDLE_FILE, file.h) : NULL;
    int error;

    if (handle == NULL)
        return kal_err_invalid;
    error = fs_info_of(handle->fd, wanted, out);
    handle_put(handle);
    return error;
}

/* Ensures:  the time, as exactly as the file system keeps it; kal_err_permission for another's file. SPEC: FS-11 */
int kal_fs_set_modified(struct kal_file file, kal_u64 ns)
{
    struct handle *handle = handle_get(HANDLE_FILE, file.h);
    struct timespec times[2];
    int error;

    if (handle == NULL)
        return kal_err_invalid;
    fs_times(ns, times);
    error = futimens(handle->fd, times) == 0 ? kal_ok : sys_error(errno);
    handle_put(handle);
    return error;
}

/* Set or take away a lock of the open file, not of the process: it ends with the file, and other handles of this
 * program for the same file are kept out, too. */
static int lock(struct kal_file file, kal_u64 start, kal_u64 len, short type, bool waits)
{
    struct handle *handle = start <= INT64_MAX && len <= INT64_MAX ? handle_get(HANDLE_FILE, file.h) : NULL;
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)start, .l_len = (off_t)len};
    int error;

    if (handle == NULL)
        return kal_err_invalid;
    SYS_RETRY(error, fcntl(handle->fd, waits ? F_OFD_SETLKW : F_OFD_SETLK, &range));
    handle_put(handle);
    return error == kal_err_closed ? kal_err_permission : error; /* not open for what the lock is for */
}

/* Ensures:  kal_err_again where another holds it and this one does not wait; kal_err_permission where the file was not
 *           opened to read (shared) or to write (exclusive).                                      SPEC: FS-7 */
int kal_fs_lock(struct kal_file file, kal_u64 start, kal_u64 len, kal_uintptr mode)
{
    kal_uintptr kind = mode & (KAL_LOCK_SHARED | KAL_LOCK_EXCLUSIVE);

    if ((mode & ~(kal_uintptr)LOCK_MODES) != 0 || (kind != KAL_LOCK_SHARED && kind != KAL_LOCK_EXCLUSIVE))
        return kal_err_invalid;
    return lock(file, start, len, kind == KAL_LOCK_SHARED ? F_RDLCK : F_WRLCK, (mode & KAL_LOCK_WAIT) != 0);
}

/* Ensures:  kal_ok, also where nothing was locked.                                               SPEC: FS-7 */
int kal_fs_unlock(struct kal_file file, kal_u64 start, kal_u64 len)
{
    return lock(file, start, len, F_UNLCK, false);
}

/* Ensures:  bytes of the file system, and those that this program may still fill.                SPEC: FS-12 */
int kal_fs_capacity(struct kal_dir dir, kal_u64 *total, kal_u64 *available)
{
    struct fs_base base;
    struct handle *handle = fs_dir(dir.h, &base);
    struct statvfs medium;
    int error;

    if (handle == NULL)
        return kal_err_invalid;
    SYS_RETRY(error, fstatvfs(base.fd, &medium));
    handle_put(handle);
    if (error == kal_ok && total)
        *total = (kal_u64)medium.f_blocks * medium.f_frsize;
    if (error == kal_ok && available)
        *available = (kal_u64)medium.f_bavail * medium.f_frsize;
    return error;
}

/* Ensures:  0 for a word that is no directory.                                                   SPEC: FS-12 */
kal_uintptr kal_fs_props(struct kal_dir dir)
{
    kal_uintptr props = KAL_FS_PROP_MODIFIED_TIME | KAL_FS_PROP_ATOMIC_RENAME | KAL_FS_PROP_LOCKS |
                        KAL_FS_PROP_CAPACITY;
    struct fs_base base;
    struct handle *handle = fs_dir(dir.h, &base);
    struct statfs medium;

    if (handle == NULL)
        return 0;
    if (fstatfs(base.fd, &medium) != 0 || (medium.f_type != MSDOS_MAGIC && medium.f_type != EXFAT_MAGIC))
        props |= KAL_FS_PROP_CASE_SENSITIVE | KAL_FS_PROP_LINKS | KAL_FS_PROP_MAKE_LINKS;
    handle_put(handle);
    return props;
}

kal_uintptr kal_fs_max_name(void)
{
    return FS_MAX_NAME;
}
