/* openkal.terminal.                                                                       SPEC: TERM-1 to TERM-5 */
#include "terminal.h"

#include <openkal/terminal.h>
#include <pthread.h>
#include <sys/ioctl.h>

#include "copied.h"
#include "handle.h"
#include "sys.h"

#define MODES (KAL_TERM_LINE_EDIT | KAL_TERM_ECHO | KAL_TERM_PASS_CONTROL)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
FREE_IN_COPIES(lock)

static kal_uintptr mode_of(const struct termios *t)
{
    return ((t->c_lflag & ICANON) != 0 ? KAL_TERM_LINE_EDIT : 0) | ((t->c_lflag & ECHO) != 0 ? KAL_TERM_ECHO : 0) |
           ((t->c_lflag & ISIG) == 0 ? KAL_TERM_PASS_CONTROL : 0);
}

/* Change what differs and nothing else. The keys that are the terminal's own are those of signals, of flow control (^S,
 * ^Q), and ^V and ^O: of the last two sorts it has those again that it had before. */
static void set_mode(struct termios *t, const struct termios *before, kal_uintptr mode)
{
    kal_uintptr change = mode ^ mode_of(t);

    if ((change & KAL_TERM_LINE_EDIT) != 0)
        t->c_lflag ^= ICANON;
    if ((change & KAL_TERM_ECHO) != 0)
        t->c_lflag ^= ECHO;
    if ((change & KAL_TERM_PASS_CONTROL) != 0)
        t->c_lflag ^= ISIG;
    if ((mode & KAL_TERM_PASS_CONTROL) != 0) {
        t->c_lflag &= ~(tcflag_t)IEXTEN;
        t->c_iflag &= ~(tcflag_t)IXON;
    } else if ((change & KAL_TERM_PASS_CONTROL) != 0) {
        t->c_lflag |= before->c_lflag & IEXTEN;
        t->c_iflag |= before->c_iflag & IXON;
    }
    if ((mode & KAL_TERM_LINE_EDIT) == 0) {
        t->c_cc[VMIN] = 1; /* a read ends with the first byte that comes */
        t->c_cc[VTIME] = 0;
    }
}

static int not_terminal(int number)
{
    return number == ENOTTY || number == EINVAL ? kal_err_not_supported : sys_error(number);
}

/* Ensures:  kal_err_not_supported for a stream that is no terminal.                               SPEC: TERM-1 */
int kal_terminal_get_mode(struct kal_stream stream, kal_uintptr *mode)
{
    struct handle *handle = mode != NULL ? handle_get(HANDLE_STREAM, stream.h) : NULL;
    struct termios t;
    int error = kal_ok;

    if (handle == NULL)
        return kal_err_invalid;
    if (tcgetattr(handle->fd, &t) != 0)
        error = not_terminal(errno);
    else
        *mode = mode_of(&t);
    handle_put(handle);
    return error;
}

static int change(int fd, kal_uintptr mode)
{
    struct terminal *terminal;
    struct termios t;
    int error;

    if (tcgetattr(fd, &t) != 0)
        return not_terminal(errno);
    error = terminal_keep(fd, &t, &terminal);
    if (error != kal_ok)
        return error;
    set_mode(&t, terminal_before(terminal), mode);
    error = terminal_set(terminal, &t);
    return error == kal_ok && mode_of(&t) != mode ? kal_err_not_supported : error;
}

/* Ensures:  the mode, until the program ends; kal_err_invalid for other bits than KAL_TERM_; kal_err_not_supported
 *           where the terminal has no such mode. A program in the background is stopped, as the system does it.
 * SPEC: TERM-2, TERM-3 */
int kal_terminal_set_mode(struct kal_stream stream, kal_uintptr mode)
{
    struct handle *handle = (mode & ~(kal_uintptr)MODES) == 0 ? handle_get(HANDLE_STREAM, stream.h) : NULL;
    int error;

    if (handle == NULL)
        return kal_err_invalid;
    pthread_mutex_lock(&lock);
    error = change(handle->fd, mode);
    pthread_mutex_unlock(&lock);
    handle_put(handle);
    return error;
}

/* Ensures:  kal_err_not_supported for no terminal and for one that does not know its size.        SPEC: TERM-1 */
int kal_terminal_size(struct kal_stream stream, kal_uintptr *cols, kal_uintptr *rows)
{
    struct handle *handle = cols != NULL && rows != NULL ? handle_get(HANDLE_STREAM, stream.h) : NULL;
    struct winsize size;
    int error = kal_ok;

    if (handle == NULL)
        return kal_err_invalid;
    if (ioctl(handle->fd, TIOCGWINSZ, &size) != 0)
        error = not_terminal(errno);
    else if (size.ws_col == 0 || size.ws_row == 0)
        error = kal_err_not_supported;
    handle_put(handle);
    if (error == kal_ok) {
        *cols = size.ws_col;
        *rows = size.ws_row;
    }
    return error;
}

kal_uintptr kal_terminal_props(struct kal_stream stream)
{
    struct handle *handle = handle_get(HANDLE_STREAM, stream.h);
    kal_uintptr props = 0;
    struct winsize size;

    if (handle == NULL)
        return 0;
    if (isatty(handle->fd)) {
        props = KAL_TERM_PROP_MODE;
        if (ioctl(handle->fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 && size.ws_row != 0)
            props |= KAL_TERM_PROP_SIZE;
    }
    handle_put(handle);
    return props;
}
