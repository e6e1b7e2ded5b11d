/* Starting a program that was described. */
#ifndef OKHOST_KAL_SPAWN_H
#define OKHOST_KAL_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SPAWN_STREAMS 3
#define SPAWN_GRANTS 16
#define SPAWN_OWN_SESSION (-2) /* a group of its own, in a session of its own */

/* A program to be started, with everything that it gets. */
struct spawn {
    const char *path;              /* absolute */
    int program;                   /* what is executed, wherever path leads by then; 0: what lies at path */
    char **argv, **envp;           /* each ended by a null */
    int streams[SPAWN_STREAMS];    /* the descriptors to become 0, 1 and 2 */
    int grants[SPAWN_GRANTS];      /* to become 3 and those after it */
    size_t grant_count;
    int work;                      /* its working directory, or -1: this one's */
    pid_t group;                   /* -1: this one's; 0: one of its own; SPAWN_OWN_SESSION; else that group */
    bool bound;                    /* it ends when this process ends */
};

/* Start it.
 * Ensures:  0 and *pid once the program has taken the place of the child; or the errno value, and nothing runs. Nothing
 *           is open in it but what is said above.                                                  SPEC: PROC-2 */
int spawn(const struct spawn *what, pid_t *pid);

#endif
