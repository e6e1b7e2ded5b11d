/* An image that needs version 0.20. */
#include <openkal/image.h>

#include "../../e2e/src/text.h"

OPENKAL_IMAGE(KAL_IFACE_STREAM | KAL_IFACE_ENV, 0, 0)

int main(void)
{
    say("ran\n");
    return 0;
}
