/* Prints its arguments, a line each, its own name first. */
#include <openkal/env.h>

#include "text.h"

int main(void)
{
    static char text[4096];

    for (kal_uintptr i = 0; i < kal_env_arg_count(); i++) {
        put(text, (kal_uintptr)kal_env_arg(i, text, sizeof text));
        say("\n");
    }
    return 0;
}
