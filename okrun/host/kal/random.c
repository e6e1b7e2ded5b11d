/* openkal.random, from the kernel's generator. */
#include <errno.h>
#include <openkal/random.h>
#include <string.h>
#include <sys/random.h>

#include "sys.h"

/* Fill out[0 .. len) or leave nothing there.
 * Ensures:  kal_ok and every byte is random; or an error, kal_err_again before the kernel's generator is seeded, and
 *           the bytes that were filled are zero again.
 * Never:    waits for the generator: KAL_RANDOM_PROP_BLOCKING is not set. SPEC: KAL-6 */
int kal_random_fill(void *out, kal_uintptr len)
{
    char *to = out;
    size_t done = 0;

    if (!sys_is_buffer(out, len))
        return kal_err_invalid;
    while (done < len) {
        size_t part = len - done < SYS_MOST ? len - done : SYS_MOST; /* getrandom() itself stops at 32 MiB */
        ssize_t n = getrandom(to + done, part, GRND_NONBLOCK);

        if (n >= 0) {
            done += (size_t)n;
        } else if (errno != EINTR) {
            int error = sys_error(errno);

            if (done > 0)
                explicit_bzero(out, done);
            return error;
        }
    }
    return kal_ok;
}

kal_uintptr kal_random_props(void)
{
    return 0;
}
