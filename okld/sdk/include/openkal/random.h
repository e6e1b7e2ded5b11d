/* openkal.random: Random bytes fit for keys. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_RANDOM_H
#define OPENKAL_RANDOM_H

#include "types.h"

#define KAL_RANDOM_PROP_BLOCKING ((kal_uintptr)1<<0) /* A call may wait for the generator to be seeded. */
#define KAL_RANDOM_PROP_HARDWARE ((kal_uintptr)1<<1) /* The bytes come from a device. */

#ifdef __cplusplus
extern "C" {
#endif

/* Fill the whole buffer or none of it; kal_err_again: not seeded yet. */
int kal_random_fill(void* out, kal_uintptr len);

/* KAL_RANDOM_PROP_ bits. */
kal_uintptr kal_random_props(void);

#ifdef __cplusplus
}
#endif

#endif
