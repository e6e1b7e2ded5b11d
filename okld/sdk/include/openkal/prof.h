/* openkal.prof: What the runner measures; cheap when nothing is measured. The runner answers it. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_PROF_H
#define OPENKAL_PROF_H

#include "types.h"

#define KAL_PROF_PROP_CALLS ((kal_uintptr)1<<0) /* Calls are measured now. */
#define KAL_PROF_PROP_COUNTERS ((kal_uintptr)1<<1) /* Counters are kept now. */
#define KAL_PROF_PROP_HEAP ((kal_uintptr)1<<2) /* Memory is measured now. */

#ifdef __cplusplus
extern "C" {
#endif

/* Register a cell to which the program adds; the runner reads it at the end. */
int kal_prof_counter(const char* name, kal_uintptr len, const kal_u64* cell);

/* End the phase before, begin this one; len 0 only ends. */
int kal_prof_phase(const char* name, kal_uintptr len);

/* KAL_PROF_PROP_ bits. */
kal_uintptr kal_prof_props(void);

#ifdef __cplusplus
}
#endif

#endif
