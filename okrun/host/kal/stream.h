/* What openkal.timeout shares with openkal.stream. */
#ifndef OKHOST_KAL_STREAM_H
#define OKHOST_KAL_STREAM_H

#include "handle.h"

/* The answer for a stream of which `moved` says what a call moved or why it did not, with errno still the call's. */
kal_intptr stream_result(const struct handle *handle, kal_intptr moved);

/* The same for a read: the close of a channel's other end is the end of the input.                SPEC: PROC-4 */
kal_intptr stream_read_result(const struct handle *handle, kal_intptr moved);

#endif
