/* What openkal.timeout shares with openkal.process. */
#ifndef OKHOST_KAL_PROCESS_H
#define OKHOST_KAL_PROCESS_H

#include <openkal/process.h>

#include "wait.h"

/* As kal_process_wait(), with a bound: kal_err_again when the time has passed. */
int process_wait(struct kal_process process, wait_end end, int *status, int *terminated);

#endif
