/* Waiting for a descriptor, with a bound. */
#ifndef OKHOST_KAL_WAIT_H
#define OKHOST_KAL_WAIT_H

#include <openkal/types.h>
#include <stdbool.h>

/* A point in time, in nanoseconds of the monotonic clock; WAIT_FOREVER: none. */
typedef kal_u64 wait_end;
#define WAIT_FOREVER UINT64_MAX

/* The point in time that ns from now is; 0: WAIT_FOREVER.          SPEC: TMO-1 */
wait_end wait_until(kal_u64 ns);

/* Whether the time has passed. */
bool wait_is_over(wait_end end);

/* Wait for events of poll() at fd.
 * Ensures:  kal_ok when there is one of them, an error or the other end's close among them; kal_err_again when the time
 *           has passed. Interruptions neither end it nor make it longer. */
int wait_for(int fd, short events, wait_end end);

/* Sleep ns, or until the end; kal_err_again when that had come before. */
int wait_a_moment(kal_u64 ns, wait_end end);

#endif
