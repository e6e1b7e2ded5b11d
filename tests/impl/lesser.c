/* A lesser implementation, made of the native one, whose functions are here called native_: an older version, coarser
 * memory, no identity of files, and no openkal.space and openkal.exec, which are not in the library at all. */
#include <openkal/fs.h>
#include <openkal/memory.h>
#include <openkal/version.h>

int native_fs_info(struct kal_dir base, const char *name, kal_uintptr len, kal_uintptr flags, kal_u32 wanted,
                   struct kal_node_info *out);
int native_fs_file_info(struct kal_file file, kal_u32 wanted, struct kal_node_info *out);

kal_u64 kal_version(void)
{
    return KAL_VERSION_MAKE(0, 19, 0);
}

/* Of the runner's two interfaces it claims one, as if the other were none. */
kal_u64 kal_interfaces(void)
{
    return ((KAL_IFACE_PROF << 1) - 1) & ~(KAL_IFACE_SPACE | KAL_IFACE_EXEC);
}

kal_uintptr kal_memory_granularity(void)
{
    return 65536;
}

int kal_fs_info(struct kal_dir base, const char *name, kal_uintptr len, kal_uintptr flags, kal_u32 wanted,
                struct kal_node_info *out)
{
    return native_fs_info(base, name, len, flags, wanted & ~(kal_u32)KAL_INFO_IDENTITY, out);
}

int kal_fs_file_info(struct kal_file file, kal_u32 wanted, struct kal_node_info *out)
{
    return native_fs_file_info(file, wanted & ~(kal_u32)KAL_INFO_IDENTITY, out);
}
