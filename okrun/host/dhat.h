/* The file that DHAT's viewer reads, version 2 of its format. */
#ifndef OKHOST_DHAT_H
#define OKHOST_DHAT_H

#include "heap_book.h"

#define DHAT_NAME 96 /* room for the name of a file */

struct dhat {
    const struct book *book;
    uint64_t began, now; /* in ticks */
    bool is_whole;       /* nobody changes the book */
    const char *id;      /* of the report */
};

/* Write dhat-heap-<id>.json, under another name first, and give its name.
 * Ensures:  0; or the errno value, and no file is left. Signal-safe.                       SPEC: HEAP-4, HEAP-5 */
int dhat_write(const struct dhat *dhat, int directory, char name[DHAT_NAME]);

#endif
