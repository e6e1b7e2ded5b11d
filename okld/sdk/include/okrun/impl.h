/* For a library that implements openkal and that okrun binds in place of its own implementation: okrun --impl LIBRARY.
 * This is okrun's own and no part of openkal: images do not see it.                                SPEC: IMPL-4 */
#ifndef OKRUN_IMPL_H
#define OKRUN_IMPL_H

#include <openkal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A directory that the image is given. */
struct okrun_impl_dir {
    int fd;           /* open, above the standard streams, closed by an execve; the library's from now on */
    const char *name; /* that it is given under, ended by a NUL */
};

/* What an implementation cannot know by itself. All of it stays where it is until the process ends. */
struct okrun_impl {
    kal_uintptr size; /* of this structure, in bytes: members that lie past it the runner does not have */

    kal_uintptr arg_count;
    const char *const *args; /* the image's, args[0] its own name; each ended by a NUL, and a null after the last */
    const char *const *env;  /* NAME=VALUE each, the same; it is the C library's environ */

    kal_uintptr dir_count;
    const struct okrun_impl_dir *dirs;

    kal_uintptr runner_count;
    const char *const *runner; /* the words of the command that starts another image in the same way, up to its options;
                                  a null after the last, and nothing else where no image can be started */

    kal_uintptr stack_size; /* bytes that the image wants for the stack of each task */
    void *stack;            /* the lowest address of the first task's, which has as many */
};

/* Where the library exports this function, okrun calls it: once, when the image is in memory and before any of its code
 * runs. kal_version and kal_interfaces are called before. */
void okrun_impl_begin(const struct okrun_impl *impl);

#ifdef __cplusplus
}
#endif

#endif
