/* openkal.region: Address space reserved first, memory committed later. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_REGION_H
#define OPENKAL_REGION_H

#include "types.h"

#define KAL_REGION_PROP_ZEROED ((kal_uintptr)1<<0) /* A fresh commit reads 0. */

#ifdef __cplusplus
extern "C" {
#endif

/* Reserve addresses. */
int kal_region_reserve(kal_uintptr size, void** out);

/* Put memory there. */
int kal_region_commit(void* p, kal_uintptr size);

/* Take it away; the addresses stay reserved. */
int kal_region_decommit(void* p, kal_uintptr size);

/* Give the addresses back. */
int kal_region_release(void* p, kal_uintptr size);

/* The unit of all of it, in bytes. */
kal_uintptr kal_region_granularity(void);

/* KAL_REGION_PROP_ bits. */
kal_uintptr kal_region_props(void);

#ifdef __cplusplus
}
#endif

#endif
