/* ends return|exit|abort STATUS: ends in this way. The finaliser, which runs after `return` alone, prints `fini`.
 * Without a known word it returns 99. */

#include "say.h"
#include <openkal/image.h>

OPENKAL_IMAGE(KAL_IFACE_ABORT | KAL_IFACE_STREAM | KAL_IFACE_ENV, 0, 0)

__attribute__((constructor)) static void begin(void)
{
    say("init\n");
}

__attribute__((destructor)) static void finish(void)
{
    say("fini\n");
}

int main(int argc, char** argv)
{
    int status = argc > 2 ? (int)number_in(argv[2], 10) : 0;
    char way = argc > 1 ? argv[1][0] : 0;

    if (way == 'r')
        return status;
    if (way == 'e')
        kal_exit(status);
    if (way == 'a')
        kal_abort("ends was told to abort", 22);
    return 99;
}
