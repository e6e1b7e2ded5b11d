/* weak: prints for three weak imports whether they are there: `random 1`, `net 0`, `map 0` where the host answers
 * openkal.random and neither of the others. Status 0; 1 where a function that is there is not what kal_interfaces says. */

#include "say.h"
#include <openkal/image.h>

OPENKAL_IMAGE(KAL_IFACE_STREAM, KAL_IFACE_RANDOM | KAL_IFACE_NET | KAL_IFACE_MAP, 0)

KAL_OPTIONAL(kal_random_props)
KAL_OPTIONAL(kal_net_props)
KAL_OPTIONAL(kal_map_props)

int _start(void);

static int show(const char* name, kal_uintptr (*function)(void), kal_u64 bit)
{
    say(name);
    say(function ? " 1\n" : " 0\n");
    if (function)
        function();
    return !function != !(kal_interfaces() & bit);
}

int _start(void)
{
    return show("random", kal_random_props, KAL_IFACE_RANDOM) | show("net", kal_net_props, KAL_IFACE_NET) |
           show("map", kal_map_props, KAL_IFACE_MAP);
}
