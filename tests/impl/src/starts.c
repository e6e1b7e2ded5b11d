/* Start the image of the first argument, a path that begins at "/", in the directory ".", and wait for it. */
#include <openkal/image.h>

#include "../../kal/src/start.h"

OPENKAL_IMAGE_VERSION(KAL_VERSION_MAKE(0, 19, 0),
                      KAL_IFACE_STREAM | KAL_IFACE_ENV | KAL_IFACE_FS | KAL_IFACE_PROCESS, 0, 0)

int main(int argc, char** argv)
{
    static const struct kal_spawn_streams inherited;
    const struct kal_preopen here = {directory(0), ".", 1};
    const struct kal_spawn how = {.base = directory(1), .grants = &here, .grant_count = 1};
    struct texts words = {.count = 0}, env = {.count = 0};
    struct kal_process process;

    for (int i = 1; i < argc; i++)
        add(&words, argv[i]);
    if (start(&how, argv[1], &words, &env, &inherited, &process) != kal_ok)
        return 100;
    return end_of(process);
}
