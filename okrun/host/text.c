/* Text for people, made without the C library's formatting, which a signal handler may not call. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

struct line {
    char *out;
    size_t cap, length; /* length < cap always, for the NUL; nothing is added past that */
};

static void add(struct line *line, char c)
{
    if (line->cap != 0 && line->length < line->cap - 1)
        line->out[line->length++] = c;
}

static void add_number(struct line *line, uint64_t value, unsigned base)
{
    char digits[20];
    size_t n = 0;

    do {
        digits[n++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (n != 0)
        add(line, digits[--n]);
}

/* How many bytes the UTF-8 character at s has; 0 when there is none that may go to a terminal as it is: a control
 * character (C0, DEL, C1), or bytes that are not UTF-8. A NUL ends s, and is no continuation byte. */
static size_t printable_length(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    unsigned least[] = {0x20, 0x20, 0xa0, 0x800, 0x10000};
    unsigned code = n == 1 ? s[0] : s[0] & (0x7fu >> n);

    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3fu);
    }
    if (code < least[n] || code == 0x7f || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff)
        return 0;
    return n;
}

static void add_text(struct line *line, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;

    while (*s != 0) {
        size_t n = printable_length(s);

        if (n == 0) {
            add(line, '\\');
            add(line, 'x');
            add(line, "0123456789abcdef"[*s >> 4]);
            add(line, "0123456789abcdef"[*s & 15]);
            n = 1;
        } else {
            for (size_t i = 0; i < n; i++)
                add(line, (char)s[i]);
        }
        s += n;
    }
}

static void add_signed(struct line *line, int value)
{
    if (value < 0)
        add(line, '-');
    add_number(line, value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
}

static void add_format(struct line *line, const char *format, va_list arguments)
{
    for (const char *f = format; *f != 0; f++) {
        bool prefix = false;
        unsigned longs = 0;

        if (*f != '%') {
            add(line, *f);
            continue;
        }
        f++;
        if (*f == '#') {
            prefix = true;
            f++;
        }
        for (; *f == 'l' || *f == 'z'; f++)
            longs++;
        if (*f == 's') {
            add_text(line, va_arg(arguments, const char *));
        } else if (*f == 'd') {
            add_signed(line, va_arg(arguments, int));
        } else if (*f == 'u' || *f == 'x') {
            uint64_t value = longs != 0 ? va_arg(arguments, uint64_t) : va_arg(arguments, unsigned);

            if (prefix)
                add_text(line, "0x");
            add_number(line, value, *f == 'u' ? 10 : 16);
        } else {
            add(line, '%');
        }
    }
    if (line->cap != 0)
        line->out[line->length] = 0;
}

size_t host_format(char *out, size_t cap, const char *format, ...)
{
    struct line line = {.out = out, .cap = cap};
    va_list arguments;

    va_start(arguments, format);
    add_format(&line, format, arguments);
    va_end(arguments);
    return line.length;
}

bool refuse(struct refusal *why, const char *format, ...)
{
    struct line line = {.out = why->text, .cap = sizeof why->text};
    va_list arguments;

    va_start(arguments, format);
    add_format(&line, format, arguments);
    va_end(arguments);
    return false;
}

/* One write, so that lines of several processes do not mix; nobody is left to tell when it fails. */
static void say(const char *before, const char *format, va_list arguments, const char *after)
{
    char text[8192]; /* the longest path, also where some of it is escaped */
    size_t tail = strlen(after);
    struct line line = {.out = text, .cap = sizeof text - tail};
    int saved = errno;

    add_text(&line, before);
    add_format(&line, format, arguments);
    memcpy(text + line.length, after, tail);
    while (write(STDERR_FILENO, text, line.length + tail) < 0 && errno == EINTR)
        ;
    errno = saved;
}

void host_put(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say("", format, arguments, "");
    va_end(arguments);
}

void host_warn(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say("okrun: ", format, arguments, "\n");
    va_end(arguments);
}

void host_die(int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say("okrun: ", format, arguments, "\n");
    va_end(arguments);
    _exit(status);
}

int host_open(int directory, const char *path, int flags, mode_t mode)
{
    int fd = openat(directory, path, flags | O_CLOEXEC, mode);

    if (fd >= 0 && fd < 3) {
        int low = fd;
        int saved;

        fd = fcntl(low, F_DUPFD_CLOEXEC, 3);
        saved = errno;
        close(low);
        errno = saved;
    }
    return fd;
}
