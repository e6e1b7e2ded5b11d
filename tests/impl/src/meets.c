/* What the implementation that this image meets answers; it needs version 0.19 of openkal, and can do without two
 * interfaces. */
#include <openkal/exec.h>
#include <openkal/fs.h>
#include <openkal/image.h>
#include <openkal/memory.h>
#include <openkal/space.h>

#include "../../e2e/src/text.h"

OPENKAL_IMAGE_VERSION(KAL_VERSION_MAKE(0, 19, 0), KAL_IFACE_STREAM | KAL_IFACE_MEMORY | KAL_IFACE_ENV | KAL_IFACE_FS,
                      KAL_IFACE_EXEC | KAL_IFACE_SPACE, 0)
KAL_OPTIONAL(kal_exec_alloc)
KAL_OPTIONAL(kal_space_start)

static void line(const char* what, kal_u64 value)
{
    say(what);
    say(" ");
    say_number(value);
    say("\n");
}

static kal_u64 answered(kal_u64 interface)
{
    return (kal_interfaces() & interface) != 0;
}

int main(void)
{
    struct kal_node_info info = {.self_size = sizeof info};
    struct kal_dir here = {0};
    kal_uintptr length;

    line("minor version", kal_version() >> 16 & 0xffff);
    line("exec", answered(KAL_IFACE_EXEC) + 2 * (kal_exec_alloc != 0));
    line("space", answered(KAL_IFACE_SPACE) + 2 * (kal_space_start != 0));
    line("map", answered(KAL_IFACE_MAP));
    line("prof", answered(KAL_IFACE_PROF));
    line("debug", answered(KAL_IFACE_DEBUG));
    line("granularity", kal_memory_granularity());
    kal_fs_preopen(0, &here, 0, 0, &length);
    line("info", (kal_u64)kal_fs_info(here, ".", 1, 0, KAL_INFO_ALL, &info));
    line("present", info.present);
    line("kind", (kal_u64)info.kind);
    return 0;
}
