/* openkal.debug: names for addresses of the running image. */
#include <openkal/debug.h>
#include <stdint.h>

#include "../host.h"
#include "../names.h"
#include "sys.h"

/* Ensures:  the length of the name of the symbol that holds the address, its first cap bytes in out, and how far the
 *           address is from its start in *offset, which may be null; -kal_err_not_found for everything else.
 * SPEC: RI-5 */
kal_intptr kal_debug_symbolize(const void *address, char *out, kal_uintptr cap, kal_uintptr *offset)
{
    size_t length;
    uint64_t distance;

    if (!sys_is_buffer(out, cap))
        return -kal_err_invalid;
    if (!names_lookup((uintptr_t)address, out, cap, &length, &distance))
        return -kal_err_not_found;
    if (offset)
        *offset = (kal_uintptr)distance;
    return (kal_intptr)length;
}

kal_uintptr kal_debug_props(void)
{
    return host_image.plan->header->names_count > 0 ? KAL_DEBUG_PROP_SYMBOLS : 0; /* SPEC: RI-6 */
}
