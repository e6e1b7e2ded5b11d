/* Have a signal interrupt the calls of this process every millisecond, or no longer. */
#ifndef TEST_INTERRUPT_H
#define TEST_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "check.h"

static void on_interrupt(int number)
{
    (void)number;
}

static void interrupt(bool on)
{
    static timer_t timer;
    struct itimerspec often = {{0, 1000000}, {0, 1000000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct sigaction action = {.sa_handler = on_interrupt}; /* without SA_RESTART */

    if (!on) {
        CHECK(timer_delete(timer) == 0);
        return;
    }
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &often, NULL) == 0);
}

#endif
