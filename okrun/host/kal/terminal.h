/* What a terminal was before this program changed it. */
#ifndef OKHOST_KAL_TERMINAL_H
#define OKHOST_KAL_TERMINAL_H

#include <termios.h>

#define TERMINAL_GUARD "--guard-terminal" /* the argument that makes the program a guard */

/* Put back the mode of every terminal that this process changed; in the background only where nobody else has changed
 * it since.
 * Requires: the process is about to end: from here on it sets no mode. Signal-safe, errno aside.  SPEC: TERM-3 */
void terminal_restore(void);

/* Be the guard of one terminal: descriptor 0 is what is to be known of it, 1 the terminal and 2 the process that
 * changed it. Puts the mode back when that process has ended without doing so, and nobody has changed it since.
 * SPEC: TERM-4 */
_Noreturn void terminal_guard(void);

/* A terminal that this process changes. */
struct terminal;

/* Have the mode that the terminal has now be put back, where it is the first time.
 * Requires: nobody else is in here, or in terminal_set().
 * Ensures:  kal_ok and *out; or kal_err_no_memory, also where no process or descriptor is left for a guard. */
int terminal_keep(int fd, const struct termios *now, struct terminal **out);

/* What the mode was before. */
const struct termios *terminal_before(const struct terminal *terminal);

/* Set a mode.
 * Requires: as terminal_keep().
 * Ensures:  kal_ok and what the terminal made of it in *mode; or the error, kal_err_again where the process ends. */
int terminal_set(struct terminal *terminal, struct termios *mode);

#endif
