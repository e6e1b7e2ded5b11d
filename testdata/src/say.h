/* What the test images print with. */
#ifndef SAY_H
#define SAY_H

#include <openkal/openkal.h>

/* Write size bytes of text on standard output. */
static inline void say_bytes(const char* text, kal_uintptr size)
{
    kal_stream_write(kal_stdout(), text, size);
}

/* Write text on standard output. */
static inline void say(const char* text)
{
    say_bytes(text, __builtin_strlen(text));
}

/* Write a number in base 10 or 16, without a prefix. */
static inline void say_number(kal_u64 number, unsigned base)
{
    char digits[20];
    unsigned at = sizeof digits;

    do {
        digits[--at] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number);
    say_bytes(digits + at, sizeof digits - at);
}

/* The number that text states in base 10 or 16; what is no digit ends it. */
static inline kal_u64 number_in(const char* text, unsigned base)
{
    kal_u64 number = 0;

    for (;; text++) {
        unsigned digit = (unsigned char)*text - '0';

        if (*text >= 'a' && *text <= 'f')
            digit = (unsigned char)*text - 'a' + 10;
        if (digit >= base)
            return number;
        number = number * base + digit;
    }
}

#endif
