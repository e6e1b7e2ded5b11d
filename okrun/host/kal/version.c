/* What belongs to no interface. */
#include <openkal/version.h>
#include <stdint.h>

#include "surface.gen.h"

kal_u64 kal_version(void)
{
    return KAL_VERSION; /* SPEC: KAL-8 */
}

/* The interfaces of this implementation, and the runner's own. SPEC: BIND-4 */
kal_u64 kal_interfaces(void)
{
    return KAL_HOSTED_WORD | KAL_IFACE_PROF | KAL_IFACE_DEBUG;
}
