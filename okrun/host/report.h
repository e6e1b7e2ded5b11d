/* What a report says: SPEC 12.4. */
#ifndef OKHOST_REPORT_H
#define OKHOST_REPORT_H

#include <stdint.h>

#include "measure.h"

/* How a process ends. */
struct end {
    enum end_by by;
    int status, signal_number;
};

/* Write what is known when the image begins, as the file's first line.
 * Ensures:  0, or the errno value. */
int report_write_head(int fd, const char *id, uint64_t started_wall);

/* Write all the rest.
 * Requires: report_write_head() was called.
 * Ensures:  0, or the errno value. Signal-safe, errno aside. */
int report_write_rest(const struct end *end);

#endif
