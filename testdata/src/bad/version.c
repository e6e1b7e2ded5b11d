/* Needs openkal 0.21. */
#include <openkal/image.h>
#include <openkal/stream.h>

OPENKAL_IMAGE_VERSION(KAL_VERSION_MAKE(0, 21, 0), KAL_IFACE_STREAM, 0, 0)

int _start(void);

int _start(void)
{
    return kal_stream_write(kal_stdout(), "no code of this image may run\n", 30) != 30;
}
