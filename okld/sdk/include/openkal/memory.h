/* openkal.memory: Memory. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_MEMORY_H
#define OPENKAL_MEMORY_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory at a multiple of align, a power of two; null when there is none. */
void* kal_alloc(kal_uintptr size, kal_uintptr align);

/* Give it back, with the size and alignment it was asked with. */
void kal_free(void* p, kal_uintptr size, kal_uintptr align);

/* The unit in which the host hands out memory, in bytes. */
kal_uintptr kal_memory_granularity(void);

#ifdef __cplusplus
}
#endif

#endif
