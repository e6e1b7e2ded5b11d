/* What every part of okhost shares: the one running image, and the few ways to speak to a person.
 *
 * A link address is one that the image's own headers state; link address `lo` of the plan lies at host_image.base.
 * Anything marked "signal-safe" allocates nothing, takes no lock and keeps errno. */
#ifndef OKHOST_HOST_H
#define OKHOST_HOST_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan.h"

#if defined(__x86_64__)
#define HOST_MACHINE 62u
#define HOST_ARCH "x86_64"
#elif defined(__aarch64__)
#define HOST_MACHINE 183u
#define HOST_ARCH "aarch64"
#else
#error "okhost runs on x86-64 and AArch64"
#endif

enum host_status { HOST_INTERNAL = 125, HOST_REFUSED = 126 }; /* SPEC: STAT-1 */

struct image {
    const struct plan *plan;
    uint8_t *base; /* run-time address = base + (link address - plan->header->lo) */
    int fd;        /* the image's file; stays open, close-on-exec */
    int argc;      /* the image's own arguments: argv[0] is the image as the user gave it */
    char **argv;
};

extern struct image host_image;

/* Why something was refused: one line without its end, "what (got X, limit Y) [RULE]". */
struct refusal {
    char text[512];
};

/* Write the reason into *why, cut to its size, and return false, so that a check reads `return refuse(...)`. */
bool refuse(struct refusal *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Format into out[0 .. cap), always ended by a NUL when cap is not 0; the length that was written.
 * Knows %s %d %u %lu %llu %zu %x %#x %lx %#lx %llx %#llx %% only. What %s brings in is made harmless: control bytes and
 * bytes that are not UTF-8 appear as \xNN (SPEC: ERR-2). Signal-safe. */
size_t host_format(char *out, size_t cap, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Write the text as it is on standard error, in one write. Signal-safe. */
void host_put(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Write "okrun: ", the text and a line end on standard error in one write. Signal-safe. */
void host_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, then _exit(status). Signal-safe. */
_Noreturn void host_die(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* openat() whose descriptor is close-on-exec and never below 3, also where a standard stream is closed (SPEC: RUN-8).
 * -1 and errno as openat(). Signal-safe, errno aside. */
int host_open(int directory, const char *path, int flags, mode_t mode);

/* Have every signal that ends the process end it through the runner, measured or not: something is to be put back. */
void fault_watch_all(void);

/* The stack that the calling thread runs the image's code on. */
struct stack {
    void *lo, *hi;
};
extern _Thread_local struct stack host_stack __attribute__((tls_model("local-exec")));

/* Give the calling thread its own stack for signal handlers, so that a stack overflow can be reported. The main thread
 * has one before the image runs; a thread that a task starts calls begin first and end last. */
void fault_thread_begin(void);
void fault_thread_end(void);

#endif
