/* openkal.process: starting a program.                                                   SPEC: PROC-1 to PROC-3 */
#define _GNU_SOURCE
#include <limits.h>
#include <openkal/process.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "child.h"
#include "fs_dir.h"
#include "host.h"
#include "program.h"
#include "spawn.h"
#include "sys.h"

#define MAX_HANDLES (SPAWN_STREAMS + SPAWN_GRANTS + 2)
#define MAX_RUNNER 64                             /* words of the command that starts an image */
#define OWN_WORDS (3 * SPAWN_GRANTS + MAX_RUNNER + 8) /* of ours, before the image's arguments */

/* A start under way: what has to be given back when it is over. */
struct start {
    struct spawn spawn;
    struct handle *held[MAX_HANDLES];
    size_t held_count;
    char path[PATH_MAX];
    char *text; /* arguments and environment, with their pointers before them */
    char file[64]; /* which file an image is, for the runner, which opens it by its path */
    char grants[SPAWN_GRANTS][PATH_MAX + 16];
};

/* Texts as a caller gives them. */
struct texts {
    const char *const *at;
    const kal_uintptr *lengths;
    kal_uintptr count;
};

static struct handle *hold(struct start *start, struct handle *handle)
{
    if (handle)
        start->held[start->held_count++] = handle;
    return handle;
}

static void give_back(struct start *start)
{
    while (start->held_count != 0)
        handle_put(start->held[--start->held_count]);
    if (start->spawn.program > 0)
        close(start->spawn.program);
    free(start->text);
    free(start);
}

/* The bytes that texts take, each with a NUL, or 0 where one of them cannot be passed on. */
static size_t size_of(const struct texts *texts)
{
    size_t size = 1;

    if (texts->count > INT_MAX || (texts->count != 0 && (texts->at == NULL || texts->lengths == NULL)))
        return 0;
    for (kal_uintptr i = 0; i < texts->count; i++) {
        kal_uintptr length = texts->lengths[i];

        if ((texts->at[i] == NULL && length != 0) || length > INT_MAX || size > INT_MAX ||
            (length != 0 && memchr(texts->at[i], 0, length) != NULL))
            return 0;
        size += length + 1;
    }
    return size;
}

/* Copy texts behind one another and point at each; the end of what was written. */
static char *copy(const struct texts *texts, char **pointers, char *to)
{
    for (kal_uintptr i = 0; i < texts->count; i++) {
        pointers[i] = to;
        if (texts->lengths[i] != 0)
            memcpy(to, texts->at[i], texts->lengths[i]);
        to += texts->lengths[i];
        *to++ = 0;
    }
    pointers[texts->count] = NULL;
    return to;
}

/* Room is left before the arguments for the words that start an image. */
static int copy_texts(struct start *start, const struct texts *argv, const struct texts *envp)
{
    size_t arguments = size_of(argv), environment = size_of(envp);
    size_t pointers = OWN_WORDS + argv->count + 1 + envp->count + 1;
    char **at;

    if (arguments == 0 || environment == 0 || argv->count == 0)
        return kal_err_invalid;
    start->text = malloc(pointers * sizeof *at + arguments + environment);
    if (start->text == NULL)
        return kal_err_no_memory;
    at = (char **)(void *)start->text;
    start->spawn.argv = at + OWN_WORDS;
    start->spawn.envp = at + OWN_WORDS + argv->count + 1;
    (void)copy(envp, start->spawn.envp, copy(argv, start->spawn.argv, (char *)(at + pointers)));
    return kal_ok;
}

static int take_streams(struct start *start, const struct kal_spawn_streams *streams)
{
    const kal_uintptr words[SPAWN_STREAMS] = {streams->in.h, streams->out.h, streams->err.h};

    for (int i = 0; i < SPAWN_STREAMS; i++) {
        struct handle *handle;

        start->spawn.streams[i] = i;
        if (words[i] == 0)
            continue;
        handle = hold(start, handle_get(HANDLE_STREAM, words[i]));
        if (handle == NULL)
            return kal_err_invalid;
        start->spawn.streams[i] = handle->fd;
    }
    return kal_ok;
}

static int take_grants(struct start *start, const struct kal_spawn *how)
{
    if (how->grant_count > SPAWN_GRANTS || (how->grant_count != 0 && how->grants == NULL))
        return kal_err_invalid;
    for (kal_uintptr i = 0; i < how->grant_count; i++) {
        const struct kal_preopen *grant = &how->grants[i];
        struct fs_base base;

        if (grant->name == NULL || grant->len == 0 || grant->len >= PATH_MAX || memchr(grant->name, 0, grant->len) ||
            hold(start, fs_dir(grant->dir.h, &base)) == NULL)
            return kal_err_invalid;
        start->spawn.grants[i] = base.fd;
        (void)snprintf(start->grants[i], sizeof start->grants[i], "%d=%.*s", SPAWN_STREAMS + (int)i, (int)grant->len,
                       grant->name);
    }
    start->spawn.grant_count = how->grant_count;
    return kal_ok;
}

/* Where the program lies that is open as fd, which the system starts by its path. */
static int find_path(const char *itself, const struct stat *node, char path[PATH_MAX])
{
    struct stat named;
    ssize_t size = readlink(itself, path, PATH_MAX - 1);

    if (size <= 0)
        return kal_err_io;
    path[size] = 0;
    if (stat(path, &named) != 0 || node->st_dev != named.st_dev || node->st_ino != named.st_ino)
        return kal_err_not_found; /* it was renamed just now */
    return kal_ok;
}

enum kind { NATIVE, SCRIPT, IMAGE };

/* What kind of program a regular file is. One that may not be read may still be executed: by the system alone. */
static enum kind kind_of(const char *itself)
{
    int fd = sys_keep(open(itself, O_RDONLY | O_CLOEXEC));
    enum kind kind = fd < 0 ? NATIVE : program_is_image(fd) ? IMAGE : program_is_script(fd) ? SCRIPT : NATIVE;

    if (fd >= 0)
        close(fd);
    return kind;
}

/* Put the command that starts an image before the image's arguments, of which the first is a name and no path. */
static int run_by_runner(struct start *start)
{
    char *words[OWN_WORDS], **argv = start->spawn.argv;
    const struct plan_words *runner = &host_image.plan->runner;
    size_t count = 0;

    for (const char *word = NULL; (word = plan_next_word(runner, word)) != NULL && count < MAX_RUNNER;)
        words[count++] = (char *)(uintptr_t)word;
    if (count == 0 || count == MAX_RUNNER)
        return kal_err_not_supported;
    words[count++] = (char *)(uintptr_t)"--no-dir";
    for (size_t i = 0; i < start->spawn.grant_count; i++) {
        words[count++] = (char *)(uintptr_t)"--dir-fd";
        words[count++] = start->grants[i];
    }
    words[count++] = (char *)(uintptr_t)"--file";
    words[count++] = start->file;
    words[count++] = (char *)(uintptr_t)"--argv0";
    words[count++] = argv[0];
    words[count++] = (char *)(uintptr_t)"--";
    argv[0] = start->path;
    start->spawn.argv = argv - count;
    memcpy(start->spawn.argv, words, count * sizeof *words);
    start->spawn.path = words[0];
    return kal_ok;
}

/* Whether it may be executed the system says when it is; only what cannot be a program is refused here. */
static int find_program(struct start *start, struct fs_base base, const char *path, kal_uintptr len)
{
    int fd = fs_open_at(base, path, len, O_PATH, 0), error = kal_ok;
    char itself[64];
    enum kind kind = NATIVE;
    struct stat node;

    if (fd < 0)
        return -fd;
    (void)snprintf(itself, sizeof itself, "/proc/self/fd/%d", fd);
    if (fstat(fd, &node) != 0)
        error = sys_error(errno);
    else if (!S_ISREG(node.st_mode))
        error = S_ISDIR(node.st_mode) ? kal_err_is_directory : kal_err_permission;
    if (error == kal_ok) {
        error = find_path(itself, &node, start->path);
        kind = kind_of(itself);
    }
    start->spawn.path = start->path;
    if (error == kal_ok && kind == NATIVE) {
        start->spawn.program = fd; /* whoever exchanges what leads to it, this is what was found beneath base */
        return kal_ok;
    }
    close(fd);
    (void)snprintf(start->file, sizeof start->file, "%llu:%llu", (unsigned long long)node.st_dev,
                   (unsigned long long)node.st_ino);
    return error == kal_ok && kind == IMAGE ? run_by_runner(start) : error;
}

static int prepare(struct start *start, const struct kal_spawn *how, const char *path, kal_uintptr path_len,
                   const struct texts *argv, const struct texts *envp, const struct kal_spawn_streams *streams)
{
    struct fs_base base, work = {.fd = -1};
    int error;

    if (hold(start, fs_dir(how->base.h, &base)) == NULL ||
        (how->work.h != 0 && hold(start, fs_dir(how->work.h, &work)) == NULL))
        return kal_err_invalid;
    start->spawn.work = work.fd;
    start->spawn.group = -1;
    start->spawn.bound = (how->flags & KAL_SPAWN_BOUND_LIFETIME) != 0;
    error = take_streams(start, streams);
    if (error == kal_ok)
        error = take_grants(start, how);
    if (error == kal_ok)
        error = copy_texts(start, argv, envp);
    return error == kal_ok ? find_program(start, base, path, path_len) : error;
}

static int run(struct start *start, struct handle *job, struct kal_process *out)
{
    struct child *child = NULL;
    pid_t pid;
    int error;

    child_expect();
    if (job)
        start->spawn.group = job_start(job);
    error = spawn(&start->spawn, &pid);
    if (error == 0) {
        child = child_keep(pid);
        error = child ? 0 : ENOMEM;
    }
    if (job)
        job_started(job, child);
    return error == 0 ? child_issue(child, out) : sys_error(error);
}

/* Start a program that lies beneath how->base: an image or a bundle by the runner, anything else by the system.
 * Ensures:  kal_err_invalid, and nothing runs, for a null pointer (but envp where envc is 0), unknown flags, a word
 *           that is no handle of its kind, an empty argv, more than 16 grants, and a text with a NUL.
 * SPEC: PROC-1, PROC-2, PROC-3 */
int kal_process_spawn(const struct kal_spawn *how, const char *path, kal_uintptr path_len, const char **argv,
                      const kal_uintptr *argv_lens, kal_uintptr argc, const char **envp, const kal_uintptr *envp_lens,
                      kal_uintptr envc, const struct kal_spawn_streams *streams, struct kal_process *out)
{
    const struct texts arguments = {(const char *const *)argv, argv_lens, argc};
    const struct texts environment = {(const char *const *)envp, envp_lens, envc};
    struct handle *job;
    struct start *start;
    int error;

    if (how == NULL || streams == NULL || out == NULL || !fs_is_name(path, path_len) ||
        (how->flags & ~(kal_uintptr)KAL_SPAWN_BOUND_LIFETIME) != 0)
        return kal_err_invalid;
    start = calloc(1, sizeof *start);
    if (start == NULL)
        return kal_err_no_memory;
    job = job_get(how->job);
    error = how->job && job == NULL ? kal_err_invalid
                                    : prepare(start, how, path, path_len, &arguments, &environment, streams);
    if (error == kal_ok)
        error = run(start, job, out);
    if (job)
        handle_put(job);
    give_back(start);
    return error;
}
