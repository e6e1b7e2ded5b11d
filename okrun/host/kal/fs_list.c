/* openkal.fs: what is in a directory.                                                              SPEC: FS-8 */
#define _GNU_SOURCE
#include "fs_list.h"

#include <dirent.h>
#include <openkal/fs.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "fs_dir.h"
#include "sys.h"

#define LIST_BYTES (32u << 10) /* read of a directory at a time */

/* A listing under way. It belongs to the directory that it was begun on, and ends with it. */
struct list {
    struct list *next;
    const void *directory;
    kal_uintptr word;
    pthread_mutex_t lock; /* of what follows */
    size_t at, end;       /* bytes of the buffer that are still to be given */
    char buffer[LIST_BYTES] __attribute__((aligned(8)));
};

/* What getdents64() gives; glibc states it only in its own reading of directories. */
struct entry {
    uint64_t inode;
    int64_t position;
    uint16_t size;
    uint8_t type;
    char name[];
};

static struct list *lists;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the chain */

static void take_before_copy(void)
{
    pthread_mutex_lock(&lock);
}

static void free_after_copy(void)
{
    pthread_mutex_unlock(&lock);
}

/* A list that another task was reading is not read in the copy by anybody, and may be half filled. */
static void free_in_copy(void)
{
    for (struct list *list = lists; list; list = list->next) {
        if (pthread_mutex_trylock(&list->lock) != 0) {
            pthread_mutex_init(&list->lock, NULL);
            list->at = list->end = 0;
        } else {
            pthread_mutex_unlock(&list->lock);
        }
    }
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void free_in_copies(void)
{
    (void)pthread_atfork(take_before_copy, free_after_copy, free_in_copy);
}

/* Take one list out of the chain: that of this word, or with 0 any of the directory's. Its word, or 0. */
static kal_uintptr take_out(const void *directory, kal_uintptr word)
{
    kal_uintptr taken = 0;

    pthread_mutex_lock(&lock);
    for (struct list **at = &lists; *at; at = &(*at)->next) {
        if ((*at)->directory == directory && (word == 0 || (*at)->word == word)) {
            taken = (*at)->word;
            *at = (*at)->next;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

void fs_end_lists(const void *directory)
{
    kal_uintptr word;

    while ((word = take_out(directory, 0)) != 0)
        (void)handle_close(HANDLE_LIST, word);
}

static void end_list(struct handle *handle)
{
    struct list *list = handle->state;

    pthread_mutex_destroy(&list->lock);
    free(list);
    close(handle->fd);
}

static int begin_list(const struct handle *dir, kal_uintptr *iter)
{
    int fd = sys_keep(openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct list *list;

    if (fd < 0)
        return sys_error(errno);
    list = malloc(sizeof *list);
    if (list) {
        list->directory = dir->state;
        list->at = list->end = 0;
        pthread_mutex_init(&list->lock, NULL);
        list->word = handle_new(HANDLE_LIST, fd, list, end_list);
    }
    if (list == NULL || list->word == 0) {
        free(list);
        close(fd);
        return kal_err_no_memory;
    }
    *iter = list->word;
    pthread_mutex_lock(&lock);
    list->next = lists;
    lists = list;
    pthread_mutex_unlock(&lock);
    return kal_ok;
}

/* Ensures:  a listing that ends with its last entry, or with the directory's close.               SPEC: FS-8 */
int kal_fs_list_begin(struct kal_dir dir, kal_uintptr *iter)
{
    struct fs_base base;
    struct handle *handle = iter != NULL ? fs_dir(dir.h, &base) : NULL;
    int error;

    if (handle == NULL)
        return kal_err_invalid;
    error = begin_list(handle, iter);
    handle_put(handle);
    return error;
}

static int kind_of(int fd, const struct entry *entry)
{
    static const uint8_t kinds[] = {
        [DT_REG] = kal_node_file, [DT_DIR] = kal_node_directory, [DT_LNK] = kal_node_link};
    struct stat node;
    unsigned type = entry->type;

    if (type == DT_UNKNOWN && fstatat(fd, entry->name, &node, AT_SYMLINK_NOFOLLOW) == 0)
        type = IFTODT(node.st_mode);
    return type < sizeof kinds && kinds[type] != 0 ? kinds[type] : kal_node_other;
}

/* Read more entries: how many bytes, 0 at the end, or the negated error. */
static long read_more(int fd, struct list *list)
{
    long got;

    do {
        got = syscall(SYS_getdents64, fd, list->buffer, sizeof list->buffer);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == ENOENT ? 0 : -sys_error(errno); /* in a directory that was removed is nothing */
    list->at = 0;
    list->end = (size_t)got;
    return got;
}

/* The next entry but "." and ".."; null at the end, or with *error. */
static const struct entry *next_entry(int fd, struct list *list, int *error)
{
    *error = kal_ok;
    for (;;) {
        const struct entry *entry = (const void *)(list->buffer + list->at);

        if (list->at == list->end) {
            long got = read_more(fd, list);

            if (got <= 0) {
                *error = (int)-got;
                return NULL;
            }
            continue;
        }
        list->at += entry->size;
        if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0)
            return entry;
    }
}

struct wanted {
    char *name;
    kal_uintptr cap;
    kal_uintptr *length;
    int *kind;
};

/* Give the next entry; kal_ok and *ended at the end. */
static int give_next(int fd, struct list *list, const struct wanted *wanted, bool *ended)
{
    const struct entry *entry;
    int error;

    pthread_mutex_lock(&list->lock);
    entry = next_entry(fd, list, &error);
    if (entry) {
        *wanted->kind = kind_of(fd, entry);
        *wanted->length = (kal_uintptr)sys_copy_out(entry->name, strlen(entry->name), wanted->name, wanted->cap);
    }
    pthread_mutex_unlock(&list->lock);
    *ended = entry == NULL && error == kal_ok;
    return error;
}

/* Ensures:  the next entry, whose name is copied as far as it fits and has *name_len bytes; or at the end *iter is 0,
 *           and what the other pointers name is untouched. kal_err_invalid for a word that is no list of this
 *           directory.                                                                            SPEC: FS-8 */
int kal_fs_list_next(struct kal_dir dir, kal_uintptr *iter, char *name_out, kal_uintptr name_cap,
                     kal_uintptr *name_len, int *kind)
{
    const struct wanted wanted = {name_out, name_cap, name_len, kind};
    struct fs_base base;
    struct handle *owner, *handle;
    int error = kal_err_invalid;
    bool ended = false;

    if (iter == NULL || name_len == NULL || kind == NULL || !sys_is_buffer(name_out, name_cap))
        return kal_err_invalid;
    owner = fs_dir(dir.h, &base);
    if (owner == NULL)
        return kal_err_invalid;
    handle = handle_get(HANDLE_LIST, *iter);
    if (handle && ((struct list *)handle->state)->directory == owner->state)
        error = give_next(handle->fd, handle->state, &wanted, &ended);
    if (ended) {
        if (take_out(owner->state, *iter) != 0)
            (void)handle_close(HANDLE_LIST, *iter);
        *iter = 0;
    }
    if (handle)
        handle_put(handle);
    handle_put(owner);
    return error;
}
