/* Handles: the words that stand for what an image has open.
 *
 *   word = generation (36 bits) | slot (20 bits) | kind (8 bits)
 *
 * A slot's generation starts at random, is never 0 and moves on whenever the slot is given up, so that neither a small
 * number, nor a word of another run, nor one that was closed is a handle. A word is valid while it is what its slot
 * holds: it is compared whole and never followed.                                                      SPEC: KAL-1
 *
 * A handle that is in use by one task while another closes it stays whole until the use is over: the word is refused
 * from then on, the descriptor is closed by whoever leaves last. */
#ifndef OKHOST_KAL_HANDLE_H
#define OKHOST_KAL_HANDLE_H

#include <openkal/types.h>
#include <stdint.h>

enum handle_kind {
    HANDLE_STREAM = 1, /* also the kind of a stream that is borrowed from a file, a connection or a channel */
    HANDLE_CHANNEL,    /* an end of a channel; its word is that of its stream */
    HANDLE_FILE,
    HANDLE_DIR,
    HANDLE_LIST,       /* a directory that is being listed */
    HANDLE_PROCESS,
    HANDLE_JOB,
    HANDLE_TASK,
    HANDLE_CONN,
    HANDLE_LISTENER,
    HANDLE_DATAGRAM,
};

struct handle {
    kal_uintptr word;  /* 0: free */
    uint32_t uses;     /* of calls that are under way, and 1 while it is open */
    int fd;            /* -1: none */
    void *state;       /* what else its interface keeps for it, or null */
    void (*end)(struct handle *); /* ends what state and fd stand for; null: close(fd) */
    uint32_t next;     /* free slot after this one */
    enum handle_kind kind; /* as it was issued; word has none any more when it is closed */
};

/* Issue a word for descriptor fd and state.
 * Requires: kind is none of HANDLE_STREAM.
 * Ensures:  the word, with which the handle owns both: they end by end(), at the last handle_put() after the close;
 *           or 0 where there is no memory or no slot left: then both are still the caller's. SPEC: KAL-1 */
kal_uintptr handle_new(enum handle_kind kind, int fd, void *state, void (*end)(struct handle *));

/* The handle that word stands for, kept until handle_put(); null where it was never issued as one of that kind, or is
 * closed. HANDLE_STREAM finds standard streams, channels and what is borrowed from a file or a connection. */
struct handle *handle_get(enum handle_kind kind, kal_uintptr word);
void handle_put(struct handle *handle);

/* Whether a stream is a socket of this program's own making, to whose lost other end no SIGPIPE belongs. */
static inline int handle_is_socket(const struct handle *handle)
{
    return handle->kind == HANDLE_CONN || handle->kind == HANDLE_CHANNEL;
}

/* Take the word back.
 * Ensures:  0; or kal_err_invalid where it is no handle of that kind, and nothing was done. */
int handle_close(enum handle_kind kind, kal_uintptr word);

/* The stream that is borrowed from a file, a connection or a channel: it ends with its owner. Its word alone says
 * nothing of whether it is still open. */
struct kal_stream handle_stream(kal_uintptr owner);

/* What a copy of this process has, whose only task calls it: no call is under way in it but this one, which uses no
 * handle, and other tasks are not in it: their words are refused. */
void handle_copied(void);

/* The handle of standard stream fd, the same at every call.
 * Requires: 0 <= fd <= 2. */
kal_uintptr handle_standard(int fd);

#endif
