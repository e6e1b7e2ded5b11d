/* args [ARGUMENT...]: prints the arguments, then the variables, as openkal.env has them:
 *
 *     arguments 3
 *     7:args.ok           the length, a colon, the bytes; the first is the image's own name
 *     1:a
 *     0:                  an empty one
 *     variables 1
 *     4:HOME=5:/root      length and bytes of the name, then of the value
 *
 * Then `missing` and the error with which a variable NO_SUCH_VARIABLE is missing, 9. Status 0. */

#include "say.h"
#include <openkal/image.h>

OPENKAL_IMAGE(KAL_IFACE_STREAM | KAL_IFACE_MEMORY | KAL_IFACE_ENV, 0, 0)

int _start(void);

enum { ROOM = 1 << 21 };

static void say_value(const char* bytes, kal_intptr size)
{
    say_number((kal_u64)size, 10);
    say(":");
    say_bytes(bytes, (kal_uintptr)size);
}

int _start(void)
{
    char* name = (char*)kal_alloc(ROOM, 1);
    char* value = (char*)kal_alloc(ROOM, 1);

    if (!name || !value)
        return 1;
    say("arguments ");
    say_number(kal_env_arg_count(), 10);
    say("\n");
    for (kal_uintptr i = 0; i < kal_env_arg_count(); i++) {
        say_value(value, kal_env_arg(i, value, ROOM));
        say("\n");
    }
    say("variables ");
    say_number(kal_env_var_count(), 10);
    say("\n");
    for (kal_uintptr i = 0; i < kal_env_var_count(); i++) {
        kal_intptr size = kal_env_var_at(i, name, ROOM);

        say_value(name, size);
        say("=");
        say_value(value, kal_env_var(name, (kal_uintptr)size, value, ROOM));
        say("\n");
    }
    say("missing ");
    say_number((kal_u64)-kal_env_var("NO_SUCH_VARIABLE", 16, value, ROOM), 10);
    say("\n");
    kal_free(value, ROOM, 1);
    kal_free(name, ROOM, 1);
    return 0;
}
