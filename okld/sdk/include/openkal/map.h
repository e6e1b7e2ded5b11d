/* openkal.map: A file's bytes in the address space. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_MAP_H
#define OPENKAL_MAP_H

#include "types.h"
#include "fs.h"

#define KAL_MAP_READ ((kal_uintptr)1<<0) /* To read. */
#define KAL_MAP_WRITE ((kal_uintptr)1<<1) /* Changes reach the file. */
#define KAL_MAP_PRIVATE ((kal_uintptr)1<<2) /* Changes stay here. */
#define KAL_MAP_PROP_SHARED ((kal_uintptr)1<<0) /* KAL_MAP_WRITE reaches the file. */

#ifdef __cplusplus
extern "C" {
#endif

/* Map a range; offset is a multiple of the granularity. */
int kal_map_file(struct kal_file file, kal_u64 offset, kal_uintptr size, kal_uintptr access,
                 void** out);

/* Write changes to the file now. */
int kal_map_flush(void* p, kal_uintptr size);

/* Unmap. */
int kal_map_release(void* p, kal_uintptr size);

/* The unit of an offset, in bytes. */
kal_uintptr kal_map_granularity(void);

/* KAL_MAP_PROP_ bits. */
kal_uintptr kal_map_props(void);

#ifdef __cplusplus
}
#endif

#endif
