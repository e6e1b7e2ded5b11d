/* Good but for what its linking does to it. */
#include <openkal/image.h>
#include <openkal/stream.h>

OPENKAL_IMAGE(KAL_IFACE_STREAM, 0, 0)

int _start(void);

int _start(void)
{
    return kal_stream_write(kal_stdout(), "no code of this image may run\n", 30) != 30;
}
