/* Counts for the threads that a library starts, of which nobody tells the runner. */
#include <pthread.h>

#include "../count.h"
#include "../host.h"

static pthread_key_t ended;

/* What is called after this, by whatever else ends in the thread, begins anew. */
static void give_back(void *counts)
{
    count_thread_begin(NULL);
    count_thread_end(counts);
}

__attribute__((constructor)) static void watch(void)
{
    if (pthread_key_create(&ended, give_back) != 0)
        host_die(HOST_INTERNAL, "no key for what ends with a thread");
}

void count_thread_found(void)
{
    void *counts = count_thread_new();

    if (counts == NULL)
        host_die(HOST_INTERNAL, "no memory for the counts of a task");
    count_thread_begin(counts);
    (void)pthread_setspecific(ended, counts); /* without it they are kept, but no other thread takes them over */
}
