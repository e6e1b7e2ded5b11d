/* What the server and its client agree on: connection n sends its number, four bytes, the lowest first, and then
 * LENGTH(n) bytes of its own; each byte of these comes back turned over. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <openkal/image.h>
#include <openkal/openkal.h>

enum { MOST = 1000, CHUNK = 8192 };

#define LENGTH(n) (1 + (kal_uintptr)(n) * 2741 % 20011)
#define BYTE(n, k) ((kal_u8)((n) * 31 + (k) * 7 + (k) / 251))

/* Many tasks, small stacks. */
#define MANY_TASKS                                                                                                     \
    OPENKAL_IMAGE(KAL_IFACE_ABORT | KAL_IFACE_STREAM | KAL_IFACE_MEMORY | KAL_IFACE_ENV | KAL_IFACE_TASK |             \
                      KAL_IFACE_NET, 0, 256 << 10)

/* `text: number`, a line, on standard error; status 1. */
static inline void give_up(const char* text, kal_u64 number)
{
    char line[80];
    kal_uintptr at = sizeof line - 1, size = 0;

    line[at] = '\n';
    do
        line[--at] = (char)('0' + number % 10);
    while (number /= 10);
    while (text[size])
        size++;
    line[--at] = ' ';
    while (size > 0)
        line[--at] = text[--size];
    kal_stream_write(kal_stderr(), line + at, sizeof line - at);
    kal_exit(1);
}

static inline void need(int is_so, const char* text, kal_u64 number)
{
    if (!is_so)
        give_up(text, number);
}

static inline kal_u64 number_of(const char* text)
{
    kal_u64 value = 0;

    while (*text >= '0' && *text <= '9')
        value = value * 10 + (kal_u64)(*text++ - '0');
    return value;
}

/* Add ` number`, or at the begin of a line `number`. */
static inline kal_uintptr add_number(char* line, kal_uintptr at, kal_u64 value)
{
    char digits[20];
    kal_uintptr first = sizeof digits;

    do
        digits[--first] = (char)('0' + value % 10);
    while (value /= 10);
    if (at > 0)
        line[at++] = ' ';
    while (first < sizeof digits)
        line[at++] = digits[first++];
    return at;
}

#endif
