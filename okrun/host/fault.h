/* Signals that end the process, and what is written before they do. */
#ifndef OKHOST_FAULT_H
#define OKHOST_FAULT_H

#include <stdbool.h>

/* Report the faults of the image from now on; and where something is measured, write its report at any other signal
 * that ends a process. A signal that is ignored stays ignored, and when nothing is measured no signal but those of a
 * fault is touched (RUN-7).                                                            SPEC: CRASH-1, REP-2, STAT-1 */
void fault_begin(bool measured);

/* In a copy of the process: a thread that was ending the original is not in it. */
void fault_copied(void);

#endif
