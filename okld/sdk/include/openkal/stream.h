/* openkal.stream: Bytes in and out. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_STREAM_H
#define OPENKAL_STREAM_H

#include "types.h"

/* A stream. */
struct kal_stream {
    kal_uintptr h; /* The handle; 0 is never issued. */
};
KAL_STATIC_ASSERT(sizeof(struct kal_stream) == 8, "kal_stream: size");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_stream, h) == 0, "kal_stream.h: offset");

#define KAL_STREAM_PROP_INTERACTIVE ((kal_uintptr)1<<0) /* A person is at the other end. */

#ifdef __cplusplus
extern "C" {
#endif

/* The standard input. */
struct kal_stream kal_stdin(void);

/* The standard output. */
struct kal_stream kal_stdout(void);

/* The standard error. */
struct kal_stream kal_stderr(void);

/* Write the whole buffer, or say why not. */
kal_intptr kal_stream_write(struct kal_stream stream, const void* buf, kal_uintptr len);

/* Read up to len bytes; 0 is the end of the input. */
kal_intptr kal_stream_read(struct kal_stream stream, void* buf, kal_uintptr len);

/* Pass on what is held back. */
int kal_stream_flush(struct kal_stream stream);

/* KAL_STREAM_PROP_ bits. */
kal_uintptr kal_stream_props(struct kal_stream stream);

#ifdef __cplusplus
}
#endif

#endif
