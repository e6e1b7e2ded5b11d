/* What the images share that look at an interface by themselves: EXPECT, and text. */
#ifndef EXPECT_H
#define EXPECT_H

#include <openkal/openkal.h>

static inline kal_uintptr size_of(const char* text)
{
    kal_uintptr n = 0;

    while (text[n])
        n++;
    return n;
}

static inline void say(struct kal_stream where, const char* text)
{
    kal_stream_write(where, text, size_of(text));
}

static inline void say_number(struct kal_stream where, kal_u64 value)
{
    char digits[20];
    kal_uintptr at = sizeof digits;

    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    kal_stream_write(where, digits + at, sizeof digits - at);
}

static inline void expected(const char* fact, kal_u64 line)
{
    say(kal_stderr(), "line ");
    say_number(kal_stderr(), line);
    say(kal_stderr(), ": not so: ");
    say(kal_stderr(), fact);
    say(kal_stderr(), "\n");
    kal_exit(1);
}

/* Say what is not so and end with status 1. */
#define EXPECT(fact) ((fact) ? (void)0 : expected(#fact, __LINE__))

static inline int same(const void* a, const void* b, kal_uintptr size)
{
    return __builtin_memcmp(a, b, size) == 0;
}

static inline kal_u64 number_of(const char* text)
{
    kal_u64 value = 0;

    while (*text >= '0' && *text <= '9')
        value = value * 10 + (kal_u64)(*text++ - '0');
    return value;
}

#endif
