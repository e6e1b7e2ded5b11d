/* How the images of these tests speak: on standard output, a line at a time. */
#ifndef TEXT_H
#define TEXT_H

#include <openkal/stream.h>

static inline kal_uintptr size_of(const char* text)
{
    kal_uintptr n = 0;

    while (text[n])
        n++;
    return n;
}

static inline kal_intptr put(const char* text, kal_uintptr size)
{
    return kal_stream_write(kal_stdout(), text, size);
}

static inline void say(const char* text)
{
    put(text, size_of(text));
}

static inline void say_number(kal_u64 value)
{
    char digits[20];
    kal_uintptr at = sizeof digits;

    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    put(digits + at, sizeof digits - at);
}

static inline int same(const char* a, const char* b)
{
    kal_uintptr n = size_of(a);

    for (kal_uintptr i = 0; i <= n; i++) {
        if (a[i] != b[i])
            return 0;
    }
    return 1;
}

#endif
