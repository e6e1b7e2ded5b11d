/* Says what it needs itself, can do without random bytes, and is called without start code: no arguments, no imports
 * but its own. Status: 0 where the host has openkal.random, else 1.
 * okld build examples/optional.c -o optional.ok && okrun optional.ok */
#include <openkal/image.h>
#include <openkal/openkal.h>

OPENKAL_IMAGE(KAL_IFACE_STREAM, KAL_IFACE_RANDOM, 64 * 1024)
KAL_OPTIONAL(kal_random_fill)

int _start(void)
{
    unsigned char die = 0;

    if (!kal_random_fill || kal_random_fill(&die, 1) != kal_ok)
        return 1;
    kal_stream_write(kal_stdout(), die & 1 ? "heads\n" : "tails\n", 6);
    return 0;
}
