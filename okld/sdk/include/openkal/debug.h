/* openkal.debug: Names for addresses. The runner answers it. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_DEBUG_H
#define OPENKAL_DEBUG_H

#include "types.h"

#define KAL_DEBUG_PROP_SYMBOLS ((kal_uintptr)1<<0) /* The image carries a symbol table. */

#ifdef __cplusplus
extern "C" {
#endif

/* Copy the name of the symbol that holds the address, return its length; *offset is from the symbol's start. */
kal_intptr kal_debug_symbolize(const void* address, char* out, kal_uintptr cap,
                               kal_uintptr* offset);

/* KAL_DEBUG_PROP_ bits. */
kal_uintptr kal_debug_props(void);

#ifdef __cplusplus
}
#endif

#endif
