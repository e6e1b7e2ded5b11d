/* openkal.process: being asked to stop.                                                            SPEC: PROC-8 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <openkal/process.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host.h"

static const int requests[] = {SIGTERM, SIGINT, SIGHUP}; /* by which programs and people ask */
#define REQUESTS (sizeof requests / sizeof requests[0])

static struct sigaction before[REQUESTS];
static kal_u32 requested;

/* The first request sets the word; the next one ends the program as it would have without. */
static void on_request(int signal_number)
{
    int saved = errno;

    if (__atomic_exchange_n(&requested, 1, __ATOMIC_ACQ_REL) == 0) {
        (void)syscall(SYS_futex, &requested, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
        errno = saved;
        return;
    }
    for (size_t i = 0; i < REQUESTS; i++) {
        if (requests[i] == signal_number)
            sigaction(signal_number, &before[i], NULL);
    }
    raise(signal_number); /* delivered when this handler is left */
    errno = saved;
}

static void listen_for_requests(void)
{
    struct sigaction action = {.sa_handler = on_request, .sa_flags = SA_ONSTACK | SA_RESTART};

    fault_watch_all(); /* the one that ends it is to find a terminal to put back, whenever that is changed */
    for (size_t i = 0; i < REQUESTS; i++) {
        if (sigaction(requests[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(requests[i], &action, NULL);
    }
}

/* Ensures:  a word that stays where it is, 0 until SIGTERM, SIGINT or SIGHUP comes, then 1, and tasks that wait on it
 *           are woken. From the first call on these signals do not end the program the first time. SPEC: PROC-8 */
const kal_u32 *kal_process_stop_requested(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, listen_for_requests);
    return &requested;
}
