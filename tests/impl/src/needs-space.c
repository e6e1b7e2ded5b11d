/* An image that does not start without openkal.space, though it never uses it. */
#include <openkal/image.h>

#include "../../e2e/src/text.h"

OPENKAL_IMAGE_VERSION(KAL_VERSION_MAKE(0, 19, 0), KAL_IFACE_STREAM | KAL_IFACE_ENV | KAL_IFACE_SPACE, 0, 0)

int main(void)
{
    say("ran\n");
    return 0;
}
