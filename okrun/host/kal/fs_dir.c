/* openkal.fs: directories that are open, and those that the program was given.            SPEC: FS-1, FS-4 */
#define _GNU_SOURCE
#include "fs_dir.h"

#include <openkal/fs.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fs_list.h"
#include "host.h"
#include "sys.h"

struct directory {
    bool is_root;
};

static void end_directory(struct handle *handle)
{
    fs_end_lists(handle->state);
    free(handle->state);
    close(handle->fd);
}

struct handle *fs_dir(kal_uintptr word, struct fs_base *base)
{
    struct handle *handle = handle_get(HANDLE_DIR, word);

    if (handle)
        *base = (struct fs_base){handle->fd, ((struct directory *)handle->state)->is_root};
    return handle;
}

static bool is_root(int fd)
{
    struct stat root, this;

    return stat("/", &root) == 0 && fstat(fd, &this) == 0 && root.st_dev == this.st_dev && root.st_ino == this.st_ino;
}

kal_uintptr fs_dir_new(int fd)
{
    struct directory *directory = calloc(1, sizeof *directory);
    kal_uintptr word = 0;

    if (directory) {
        directory->is_root = is_root(fd);
        word = handle_new(HANDLE_DIR, fd, directory, end_directory);
    }
    if (word == 0) {
        free(directory);
        close(fd);
    }
    return word;
}

static int open_directory(struct fs_base base, const char *name, kal_uintptr len, struct kal_dir *out)
{
    int fd = fs_open_at(base, name, len, O_RDONLY | O_DIRECTORY, 0);

    if (fd == -kal_err_permission) /* it may be passed through where it may not be listed */
        fd = fs_open_at(base, name, len, O_PATH | O_DIRECTORY, 0);
    if (fd < 0)
        return -fd;
    out->h = fs_dir_new(fd);
    return out->h != 0 ? kal_ok : kal_err_no_memory;
}

/* Ensures:  kal_err_invalid for a word that is no directory and for what is no name; kal_err_not_directory for another
 *           thing.                                                                                SPEC: FS-2, FS-4 */
int kal_fs_open_dir(struct kal_dir base, const char *name, kal_uintptr len, struct kal_dir *out)
{
    struct fs_base at;
    struct handle *handle = out != NULL && fs_is_name(name, len) ? fs_dir(base.h, &at) : NULL;
    int error;

    if (handle == NULL)
        return kal_err_invalid;
    error = open_directory(at, name, len, out);
    handle_put(handle);
    return error;
}

/* Ensures:  its lists end with it.                                                               SPEC: FS-4, FS-8 */
void kal_fs_close_dir(struct kal_dir dir)
{
    (void)handle_close(HANDLE_DIR, dir.h);
}

/* The descriptor and the name of a directory that the plan gives; -1: the working directory and then the root. */
struct preopen {
    int fd;
    const char *name;
};

static bool find_preopen(kal_uintptr index, struct preopen *found)
{
    static const char *const by_default[] = {".", "/"};
    const struct plan_words *words = &host_image.plan->preopens;
    const char *fd = NULL, *name = NULL;

    if (plan_is_none(words))
        return false;
    if (words->size == 0) {
        if (index < 2)
            *found = (struct preopen){-1, by_default[index]};
        return index < 2;
    }
    do {
        fd = plan_next_word(words, name);
        name = fd ? plan_next_word(words, fd) : NULL;
    } while (name && index-- != 0);
    if (name)
        *found = (struct preopen){atoi(fd), name};
    return name != NULL;
}

kal_uintptr kal_fs_preopen_count(void)
{
    struct preopen found;
    kal_uintptr count = 0;

    while (find_preopen(count, &found))
        count++;
    return count;
}

/* Ensures:  a handle of the caller's own at every call; kal_err_not_found past the last; kal_err_invalid where out or
 *           name_len is null or name_out cannot be a buffer of name_cap bytes.                    SPEC: FS-1 */
int kal_fs_preopen(kal_uintptr index, struct kal_dir *out, char *name_out, kal_uintptr name_cap,
                   kal_uintptr *name_len)
{
    struct preopen found;
    kal_uintptr word;
    int fd;

    if (out == NULL || name_len == NULL || !sys_is_buffer(name_out, name_cap))
        return kal_err_invalid;
    if (!find_preopen(index, &found))
        return kal_err_not_found;
    fd = found.fd < 0 ? open(found.name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : fcntl(found.fd, F_DUPFD_CLOEXEC, 3);
    if (fd < 0 && found.fd < 0 && errno == EACCES)
        fd = open(found.name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    fd = sys_keep(fd);
    if (fd < 0)
        return sys_error(errno);
    word = fs_dir_new(fd);
    if (word == 0)
        return kal_err_no_memory;
    out->h = word;
    *name_len = (kal_uintptr)sys_copy_out(found.name, strlen(found.name), name_out, name_cap);
    return kal_ok;
}
