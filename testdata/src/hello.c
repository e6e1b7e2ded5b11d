/* hello [ARGUMENT...]: prints `hello`, its arguments after blanks, and a newline. Status 0. */

#include "say.h"
#include <openkal/image.h>

OPENKAL_IMAGE(KAL_IFACE_STREAM | KAL_IFACE_ENV, 0, 0)

int main(int argc, char** argv)
{
    say("hello");
    for (int i = 1; i < argc; i++) {
        say(" ");
        say(argv[i]);
    }
    say("\n");
    return 0;
}
