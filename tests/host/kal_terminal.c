/* openkal.terminal of the native host: what a mode is.                                          SPEC: TERM-1, TERM-2 */
#define _GNU_SOURCE
#include "kal_terminal.h"

static void what_is_no_terminal_is_not_supported(void)
{
    kal_uintptr mode = 77, cols = 77, rows = 77;
    struct pair p = opened();
    int ends[2];

    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    for (int i = 0; i < 2; i++) {
        struct kal_stream stream = stream_of(i == 0 ? ends[0] : open("/dev/null", O_RDWR | O_CLOEXEC));

        CHECK(kal_terminal_get_mode(stream, &mode) == kal_err_not_supported);
        CHECK(kal_terminal_set_mode(stream, 0) == kal_err_not_supported);
        CHECK(kal_terminal_size(stream, &cols, &rows) == kal_err_not_supported);
        CHECK(kal_terminal_props(stream) == 0);
    }
    CHECK(kal_terminal_get_mode((struct kal_stream){1}, &mode) == kal_err_invalid);
    CHECK(kal_terminal_set_mode((struct kal_stream){1}, 0) == kal_err_invalid);
    CHECK(kal_terminal_size((struct kal_stream){1}, &cols, &rows) == kal_err_invalid);
    CHECK(kal_terminal_props((struct kal_stream){1}) == 0);
    CHECK(kal_terminal_get_mode(p.stream, NULL) == kal_err_invalid);
    CHECK(kal_terminal_size(p.stream, NULL, &rows) == kal_err_invalid);
    CHECK(kal_terminal_size(p.stream, &cols, NULL) == kal_err_invalid);
    CHECK(kal_terminal_set_mode(p.stream, ALL + 1) == kal_err_invalid);
    CHECK(kal_terminal_set_mode(p.stream, (kal_uintptr)1 << 63) == kal_err_invalid);
    CHECK(mode == 77 && cols == 77 && rows == 77 && watched == 0);
}

static void a_size_is_the_terminals(void)
{
    const struct winsize size = {.ws_col = 132, .ws_row = 43}, flat = {.ws_col = 80};
    kal_uintptr cols = 77, rows = 78;
    struct pair p = opened();

    CHECK(kal_terminal_size(p.stream, &cols, &rows) == kal_err_not_supported); /* nobody has said it */
    CHECK(kal_terminal_props(p.stream) == KAL_TERM_PROP_MODE);
    CHECK(ioctl(p.screen, TIOCSWINSZ, &flat) == 0);
    CHECK(kal_terminal_size(p.stream, &cols, &rows) == kal_err_not_supported && cols == 77 && rows == 78);
    CHECK(ioctl(p.screen, TIOCSWINSZ, &size) == 0);
    CHECK(kal_terminal_size(p.stream, &cols, &rows) == kal_ok && cols == 132 && rows == 43);
    CHECK(kal_terminal_props(p.stream) == (KAL_TERM_PROP_MODE | KAL_TERM_PROP_SIZE));
}

/* The kernel moves what is typed in a thread of its own: what is to come is waited for, and what came in one write may
 * be read in pieces. What is not to come is looked for when something later has come, or for a moment. */
#define LONG 60000
#define MOMENT 20

static bool comes(int fd, int milliseconds)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};

    return poll(&one, 1, milliseconds) == 1;
}

static void type(struct pair p, const char *keys)
{
    CHECK(write(p.screen, keys, strlen(keys)) == (ssize_t)strlen(keys));
}

static bool reads(struct kal_stream stream, const char *expected)
{
    size_t length = strlen(expected), have = 0;
    char got[64];

    while (have < length) {
        kal_intptr n = kal_stream_read(stream, got + have, length - have);

        if (n <= 0)
            return false;
        have += (size_t)n;
    }
    return memcmp(got, expected, length) == 0;
}

static bool shows(struct pair p, const char *expected)
{
    size_t length = strlen(expected), have = 0;
    char got[64];

    while (have < length && comes(p.screen, LONG)) {
        ssize_t n = read(p.screen, got + have, length - have);

        if (n <= 0)
            return false;
        have += (size_t)n;
    }
    return have == length && memcmp(got, expected, length) == 0 && !comes(p.screen, 0);
}

static void a_mode_does_what_it_says(void)
{
    for (kal_uintptr mode = 0; mode <= ALL; mode++) {
        struct pair p = opened(); /* of its own: what another showed last may still be on its way */
        bool edit = (mode & KAL_TERM_LINE_EDIT) != 0, echo = (mode & KAL_TERM_ECHO) != 0;
        bool pass = (mode & KAL_TERM_PASS_CONTROL) != 0;

        set(p, mode);
        CHECK(mode_of(p.stream) == mode);
        type(p, "ax\x7f" "b");
        CHECK(comes(p.terminal, edit ? MOMENT : LONG) == !edit);
        if (edit)
            type(p, "\n");
        CHECK(reads(p.stream, edit ? "ab\n" : "ax\x7f" "b"));
        CHECK(shows(p, !echo ? "" : edit ? "ax\b \bb\r\n" : "ax^?b"));
        type(p, "\x03\x13"); /* ^C and ^S */
        type(p, edit ? "c\n" : "c");
        if (!pass)
            type(p, "\x11"); /* ^Q, or nothing is shown any more */
        CHECK(reads(p.stream, !pass ? edit ? "c\n" : "c" : edit ? "\x03\x13" "c\n" : "\x03\x13" "c"));
        CHECK(!comes(p.terminal, 0)); /* that was all */
    }
}

/* Without line editing a read waits for one byte, whatever the terminal had before. */
static void a_read_ends_with_the_first_byte(void)
{
    struct pair p = opened();
    struct termios t = termios_of(p.terminal);

    t.c_lflag &= ~(tcflag_t)ICANON;
    t.c_cc[VMIN] = 0;
    t.c_cc[VTIME] = 1;
    CHECK(tcsetattr(p.terminal, TCSANOW, &t) == 0);
    set(p, mode_of(p.stream));
    t = termios_of(p.terminal);
    CHECK(t.c_cc[VMIN] == 1 && t.c_cc[VTIME] == 0);
    terminal_restore();
    t = termios_of(p.terminal);
    CHECK(t.c_cc[VMIN] == 0 && t.c_cc[VTIME] == 1);
}

/* What the modes are not about stays as the user has it. */
static void nothing_else_is_changed(void)
{
    struct pair p = opened();
    struct termios before = termios_of(p.terminal), after;

    before.c_iflag &= ~(tcflag_t)IXON; /* stty -ixon */
    before.c_oflag &= ~(tcflag_t)OPOST;
    before.c_cc[VINTR] = 'x';
    CHECK(tcsetattr(p.terminal, TCSANOW, &before) == 0);
    before = termios_of(p.terminal);
    set(p, mode_of(p.stream));
    after = termios_of(p.terminal);
    CHECK(same(&before, &after));
    set(p, ALL);
    set(p, KAL_TERM_LINE_EDIT | KAL_TERM_ECHO);
    after = termios_of(p.terminal);
    CHECK(same(&before, &after));
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], TERMINAL_GUARD) == 0)
        terminal_guard();
    alone(what_is_no_terminal_is_not_supported);
    alone(a_size_is_the_terminals);
    alone(a_mode_does_what_it_says);
    alone(a_read_ends_with_the_first_byte);
    alone(nothing_else_is_changed);
    return 0;
}
