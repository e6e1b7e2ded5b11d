/* Run something in a child that finds no openat2(), as under an older kernel or in an older sandbox.
 *
 * Where programs of another processor are emulated there is none anyway. */
#ifndef TEST_WITHOUT_OPENAT2_H
#define TEST_WITHOUT_OPENAT2_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static inline void refuse_openat2(int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};

    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    CHECK(syscall(SYS_openat2, 0, NULL, NULL, 0) == -1 && errno == error);
}

/* Run it in a child where openat2() fails with error, 0 for as it is. */
static inline void in_child(void (*run)(void), int error)
{
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        if (error != 0)
            refuse_openat2(error);
        run();
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#if defined(__x86_64__)
#define EVERY_WAY(run) in_child(run, 0), in_child(run, ENOSYS), in_child(run, EPERM)
#else
#define EVERY_WAY(run) in_child(run, 0)
#endif

#endif
