/* An implementation of two interfaces that is nothing but what is here. It says what it is told and asked, a line each,
 * and ends every program with status 77. */
#include <okrun/impl.h>
#include <openkal/abort.h>
#include <openkal/prof.h>
#include <openkal/stream.h>
#include <openkal/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

kal_u64 kal_version(void)
{
    return KAL_VERSION;
}

kal_u64 kal_interfaces(void)
{
    return KAL_IFACE_ABORT | KAL_IFACE_STREAM;
}

static void say_words(const char *what, kal_uintptr count, const char *const *words)
{
    printf("%s %lu\n", what, (unsigned long)count);
    for (kal_uintptr i = 0; i < count; i++)
        printf("%s\n", words[i]);
    if (words[count])
        printf("no null after them\n");
}

void okrun_impl_begin(const struct okrun_impl *impl)
{
    kal_uintptr variables = 0;

    while (impl->env[variables])
        variables++;
    printf("size %lu\n", (unsigned long)impl->size);
    say_words("arguments", impl->arg_count, impl->args);
    say_words("variables", variables, impl->env);
    say_words("runner", impl->runner_count, impl->runner);
    printf("directories %lu\n", (unsigned long)impl->dir_count);
    for (kal_uintptr i = 0; i < impl->dir_count; i++) {
        struct stat status;

        if (fstat(impl->dirs[i].fd, &status) != 0 || impl->dirs[i].fd < 3)
            printf("not open\n");
        printf("%s %lu\n", impl->dirs[i].name, (unsigned long)status.st_ino);
    }
    printf("stack %lu\n", (unsigned long)impl->stack_size);
    *(volatile char *)impl->stack = 1; /* both ends of it are there, and the first task is on it */
    ((volatile char *)impl->stack)[impl->stack_size - 1] = 1;
}

_Noreturn void kal_exit(int code)
{
    printf("kal_exit %d\n", code);
    fflush(stdout);
    _exit(77);
}

_Noreturn void kal_abort(const char *msg, kal_uintptr len)
{
    printf("kal_abort %.*s\n", (int)len, msg);
    fflush(stdout);
    _exit(77);
}

kal_intptr kal_stream_write(struct kal_stream stream, const void *buf, kal_uintptr len)
{
    printf("%s %.*s", stream.h == (kal_uintptr)kal_stream_write ? "bound itself" : "bound by way of another", (int)len,
           (const char *)buf);
    return (kal_intptr)len;
}

/* These are the runner's: nobody is to call them here. */
kal_uintptr kal_prof_props(void)
{
    abort();
}

int kal_prof_counter(const char *name, kal_uintptr len, const kal_u64 *cell)
{
    (void)name;
    (void)len;
    (void)cell;
    abort();
}
