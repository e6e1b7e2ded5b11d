/* Locks in a copy of this process: whoever held one when the copy was made is not in the copy to let go of it. */
#ifndef OKHOST_KAL_COPIED_H
#define OKHOST_KAL_COPIED_H

#include <pthread.h>

/* Have a lock of this file be free in every copy, with nothing half done under it: it is taken before the copy is made.
 * Requires: nobody takes another such lock while holding it. */
#define FREE_IN_COPIES(lock)                                                                                           \
    static void take_before_copy(void)                                                                                 \
    {                                                                                                                  \
        pthread_mutex_lock(&(lock));                                                                                   \
    }                                                                                                                  \
    static void free_after_copy(void)                                                                                  \
    {                                                                                                                  \
        pthread_mutex_unlock(&(lock));                                                                                 \
    }                                                                                                                  \
    __attribute__((constructor)) static void free_in_copies(void)                                                      \
    {                                                                                                                  \
        (void)pthread_atfork(take_before_copy, free_after_copy, free_after_copy);                                      \
    }

#endif
