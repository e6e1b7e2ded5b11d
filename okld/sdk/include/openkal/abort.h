/* openkal.abort: The ends that a program chooses. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_ABORT_H
#define OPENKAL_ABORT_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Report msg and end the program as failed. */
KAL_NORETURN void kal_abort(const char* msg, kal_uintptr len);

/* End the program at once with this status; no exit handler runs. */
KAL_NORETURN void kal_exit(int code);

#ifdef __cplusplus
}
#endif

#endif
