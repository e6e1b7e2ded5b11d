/* One function of an interface is imported strongly, and another so that it may be missing. */
#include <openkal/image.h>
#include <openkal/random.h>

#include "../../e2e/src/text.h"

OPENKAL_IMAGE_VERSION(KAL_VERSION_MAKE(0, 19, 0), KAL_IFACE_STREAM | KAL_IFACE_ENV | KAL_IFACE_RANDOM, 0, 0)
KAL_OPTIONAL(kal_random_props)

int main(void)
{
    char bytes[8];

    say(kal_random_fill(bytes, sizeof bytes) == kal_ok ? "filled\n" : "not filled\n");
    say(kal_random_props ? "props\n" : "no props\n");
    return 0;
}
