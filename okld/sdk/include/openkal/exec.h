/* openkal.exec: Code made at run time; never writable and executable together. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_EXEC_H
#define OPENKAL_EXEC_H

#include "types.h"

#define KAL_EXEC_PROP_REPUBLISH ((kal_uintptr)1<<0) /* What was published can be written and published again. */
#define KAL_EXEC_PROP_AVAILABLE ((kal_uintptr)1<<1) /* This program may make code. */

#ifdef __cplusplus
extern "C" {
#endif

/* Writable memory for code; null when there is none. */
void* kal_exec_alloc(kal_uintptr size);

/* Make it executable. */
int kal_exec_publish(void* p, kal_uintptr size);

/* Give it back. */
void kal_exec_free(void* p, kal_uintptr size);

/* Make a part of it executable. */
int kal_exec_publish_part(void* p, kal_uintptr offset, kal_uintptr size);

/* The unit of kal_exec_publish_part, in bytes. */
kal_uintptr kal_exec_granularity(void);

/* KAL_EXEC_PROP_ bits. */
kal_uintptr kal_exec_props(void);

#ifdef __cplusplus
}
#endif

#endif
