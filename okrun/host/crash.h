/* The report of a crash. */
#ifndef OKHOST_CRASH_H
#define OKHOST_CRASH_H

#include <signal.h>

/* Write the report on standard error: what happened, where, the way there, and the command that adds files and lines.
 * Requires: info and context are those of a signal handler with SA_SIGINFO.
 * Never:    allocates, or reads other memory than the image's stack and code.         SPEC: CRASH-1, CRASH-2 */
void crash_report(int signal_number, const siginfo_t *info, const void *context);

#endif
