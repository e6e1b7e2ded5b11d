/* What a library is told of the image that it is the implementation for.                           SPEC: IMPL-4 */
#define _GNU_SOURCE
#include <errno.h>
#include <okrun/impl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../host.h"
#include "../implementation.h"
#include "library.h"

static void (*begin)(const struct okrun_impl *);

void library_keep_begin(void *function)
{
    begin = (void (*)(const struct okrun_impl *))function;
}

static void *room(size_t count, size_t size)
{
    void *p = calloc(count, size);

    if (p == NULL)
        host_die(HOST_INTERNAL, "--impl: no memory to tell the library of the image (got %zu)", count * size);
    return p;
}

static size_t count_words(const struct plan_words *words)
{
    size_t count = 0;

    for (const char *word = NULL; (word = plan_next_word(words, word)) != NULL;)
        count++;
    return count;
}

/* The directory under its own name, as FS-1 has them by default; none where it cannot be opened. */
static void add_default(struct okrun_impl *impl, struct okrun_impl_dir *dirs, const char *name)
{
    int fd = host_open(AT_FDCWD, name, O_RDONLY | O_DIRECTORY, 0);

    if (fd < 0 && errno == EACCES)
        fd = host_open(AT_FDCWD, name, O_PATH | O_DIRECTORY, 0);
    if (fd >= 0)
        dirs[impl->dir_count++] = (struct okrun_impl_dir){fd, name};
}

static void add_directories(struct okrun_impl *impl, const struct plan_words *words)
{
    struct okrun_impl_dir *dirs = room(count_words(words) / 2 + 2, sizeof *dirs);

    impl->dirs = dirs;
    if (words->size == 0) {
        add_default(impl, dirs, ".");
        add_default(impl, dirs, "/");
    }
    if (plan_is_none(words))
        return;
    for (const char *fd = NULL, *name = NULL; (fd = plan_next_word(words, name)) != NULL;) {
        name = plan_next_word(words, fd);
        dirs[impl->dir_count++] = (struct okrun_impl_dir){atoi(fd), name};
    }
}

static void add_runner(struct okrun_impl *impl, const struct plan_words *words)
{
    const char **runner = room(count_words(words) + 1, sizeof *runner);

    impl->runner = runner;
    for (const char *word = NULL; (word = plan_next_word(words, word)) != NULL;)
        runner[impl->runner_count++] = word;
}

void implementation_begin(void)
{
    static struct okrun_impl impl = {.size = sizeof impl};
    const struct plan *plan = host_image.plan;

    if (begin == NULL)
        return;
    impl.arg_count = (kal_uintptr)host_image.argc;
    impl.args = (const char *const *)host_image.argv;
    impl.env = (const char *const *)environ;
    add_directories(&impl, &plan->preopens);
    add_runner(&impl, &plan->runner);
    impl.stack_size = plan->header->stack;
    impl.stack = host_stack.lo;
    begin(&impl);
}
