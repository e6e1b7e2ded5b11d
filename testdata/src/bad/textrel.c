/* Has a pointer in its code that a loader would have to write. */
#include <openkal/image.h>
#include <openkal/stream.h>

OPENKAL_IMAGE(KAL_IFACE_STREAM, 0, 0)

int _start(void);

__asm__(".section .text.pointer,\"ax\"\n.globl pointer\npointer: .quad _start\n.previous");
extern int (*const pointer)(void);

int _start(void)
{
    kal_stream_write(kal_stdout(), "no code of this image may run\n", 30);
    return pointer == 0;
}
