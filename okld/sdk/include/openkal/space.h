/* openkal.space: A second address space that begins as a copy of this one. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_SPACE_H
#define OPENKAL_SPACE_H

#include "types.h"
#include "process.h"

#define KAL_SPACE_PROP_CLONE_HANDLES ((kal_uintptr)1<<0) /* Handles are copied, too. */
#define KAL_SPACE_PROP_DEFERRED_COPY ((kal_uintptr)1<<1) /* Memory is copied when it is written. */

#ifdef __cplusplus
extern "C" {
#endif

/* Start entry(arg) in a copy. */
int kal_space_start(void (*entry)(void*), void* arg, void* stack_top, struct kal_process* out);

/* KAL_SPACE_PROP_ bits. */
kal_uintptr kal_space_props(void);

#ifdef __cplusplus
}
#endif

#endif
