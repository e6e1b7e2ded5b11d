/* names LOW HIGH STEP: asks kal_debug_symbolize for every STEPth link address in [LOW, HIGH), all three in hex, and
 * prints a line for each: the address, then the name and the offset in hex, or the error as a negative number:
 *
 *     2001004 factorial 4
 *     2001044 -9
 *
 * known.S has the symbols, at the addresses that known.ld fixes. */

#include "say.h"
#include <openkal/image.h>

OPENKAL_IMAGE(KAL_IFACE_STREAM | KAL_IFACE_ENV | KAL_IFACE_DEBUG, 0, 0)

extern const char factorial[]; /* at 0x2001000 */

int main(int argc, char** argv)
{
    kal_uintptr base = (kal_uintptr)factorial - 0x2001000;

    if (argc != 4)
        return 1;
    for (kal_u64 at = number_in(argv[1], 16); at < number_in(argv[2], 16); at += number_in(argv[3], 16)) {
        char name[64];
        kal_uintptr offset = 0;
        kal_intptr size = kal_debug_symbolize((const void*)(base + at), name, sizeof name, &offset);

        say_number(at, 16);
        if (size < 0) {
            say(" -");
            say_number((kal_u64)-size, 10);
        } else {
            say(" ");
            say_bytes(name, (kal_uintptr)size < sizeof name ? (kal_uintptr)size : sizeof name);
            say(" ");
            say_number(offset, 16);
        }
        say("\n");
    }
    return 0;
}
