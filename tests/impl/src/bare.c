/* Uses two interfaces, and one of the runner's. */
#include <openkal/abort.h>
#include <openkal/image.h>
#include <openkal/prof.h>
#include <openkal/stream.h>

OPENKAL_IMAGE(KAL_IFACE_ABORT | KAL_IFACE_STREAM | KAL_IFACE_PROF, 0, 0)

int _start(void);

static kal_u64 cell = 7;

int _start(void)
{
    struct kal_stream itself = {(kal_uintptr)kal_stream_write};

    kal_stream_write(itself, kal_prof_props() ? "measured\n" : "plain\n", kal_prof_props() ? 9 : 6);
    kal_prof_counter("cell", 4, &cell);
#if defined(BY_EXIT)
    kal_exit(300);
#elif defined(BY_ABORT)
    kal_abort("enough", 6);
#else
    return 300;
#endif
}
