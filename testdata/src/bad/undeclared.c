/* Declares openkal.stream alone and imports a function of openkal.memory. */
#include <openkal/image.h>
#include <openkal/memory.h>
#include <openkal/stream.h>

OPENKAL_IMAGE(KAL_IFACE_STREAM, 0, 0)

int _start(void);

int _start(void)
{
    kal_stream_write(kal_stdout(), "no code of this image may run\n", 30);
    return kal_memory_granularity() == 0;
}
