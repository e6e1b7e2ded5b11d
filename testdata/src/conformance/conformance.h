/* The checks of an openkal implementation. An image each interface; it uses nothing but openkal and what it is given:
 *
 *     preopen 0: an empty directory, but for the image itself; argument 1: the image's name there.
 *
 * A check is a line on standard output, `interface.function: what: held`, `not held` or `not observed`. The last line
 * counts them, and status 0 says that nothing is not held. */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <openkal/openkal.h>

enum outcome { HELD, NOT_HELD, NOT_OBSERVED };

static kal_uintptr outcomes[3];

static inline kal_uintptr size_of(const char* text)
{
    return __builtin_strlen(text);
}

static inline int same(const void* a, const void* b, kal_uintptr size)
{
    return __builtin_memcmp(a, b, size) == 0;
}

/* Text that is written at once, so that a line is whole. */
struct line {
    char text[300];
    kal_uintptr size;
};

static inline void append(struct line* line, const char* text)
{
    while (*text && line->size < sizeof line->text)
        line->text[line->size++] = *text++;
}

static inline void append_number(struct line* line, kal_uintptr number)
{
    char digits[21] = "";
    kal_uintptr at = sizeof digits - 1;

    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    append(line, digits + at);
}

static inline void report(const char* function, const char* what, enum outcome outcome)
{
    static const char* const words[] = {"held", "not held", "not observed"};
    struct line line = {.size = 0};

    outcomes[outcome]++;
    append(&line, function);
    append(&line, ": ");
    append(&line, what);
    append(&line, ": ");
    append(&line, words[outcome]);
    append(&line, "\n");
    kal_stream_write(kal_stdout(), line.text, line.size);
}

/* The counts of all checks. Returns the image's status. */
static inline int summary(void)
{
    struct line line = {.size = 0};

    append_number(&line, outcomes[HELD]);
    append(&line, " held, ");
    append_number(&line, outcomes[NOT_HELD]);
    append(&line, " not held, ");
    append_number(&line, outcomes[NOT_OBSERVED]);
    append(&line, " not observed\n");
    kal_stream_write(kal_stdout(), line.text, line.size);
    return outcomes[NOT_HELD] != 0;
}

/* INTERFACE is the image's own: "stream". */
#define NAMED(function) ((void)sizeof(&function), INTERFACE "." #function)
#define CHECK(function, what, ...) report(NAMED(function), what, (__VA_ARGS__) ? HELD : NOT_HELD)
#define UNOBSERVED(function, what) report(NAMED(function), what, NOT_OBSERVED)

/* Check what a function says to `word`, which is no open handle of the kind that it takes. */
#define REFUSES(function, closed_word, word_of_another_kind, ...)                                                     \
    do {                                                                                                              \
        static const char* const words_of[] = {"a handle of zero", "a handle never issued", "another never issued",   \
                                              "a handle that was closed", "a handle of another kind"};                \
        const kal_uintptr not_open[] = {0, ~(kal_uintptr)0, ((kal_uintptr)1 << 63) + 12345, closed_word,              \
                                     word_of_another_kind};                                                           \
        for (int which_word = 0; which_word < 5; which_word++) {                                                      \
            const kal_uintptr word = not_open[which_word];                                                            \
            CHECK(function, words_of[which_word], __VA_ARGS__);                                                       \
        }                                                                                                             \
    } while (0)

/* Check a text that comes out: an expression of `out` and `cap` that gives the length it said. */
#define GIVES_TEXT(function, expected, ...)                                                                           \
    do {                                                                                                              \
        const char* const asked = expected;                                                                           \
        const kal_intptr its_size = (kal_intptr)size_of(asked);                                                       \
        char* out = 0;                                                                                                \
        kal_uintptr cap = 0;                                                                                          \
        char into[300];                                                                                               \
        CHECK(function, "a capacity of 0 asks for the length", (__VA_ARGS__) == its_size);                            \
        __builtin_memset(into, 'Z', sizeof into);                                                                     \
        out = into;                                                                                                   \
        cap = (kal_uintptr)its_size - 1;                                                                              \
        CHECK(function, "a smaller buffer gets what fits, and the length is the text's own",                          \
              (__VA_ARGS__) == its_size && same(into, asked, cap) && into[cap] == 'Z');                               \
        __builtin_memset(into, 'Z', sizeof into);                                                                     \
        cap = (kal_uintptr)its_size;                                                                                  \
        CHECK(function, "a buffer of just the length gets the text",                                                  \
              (__VA_ARGS__) == its_size && same(into, asked, cap) && into[cap] == 'Z');                               \
        __builtin_memset(into, 'Z', sizeof into);                                                                     \
        cap = sizeof into;                                                                                            \
        CHECK(function, "nothing is written behind the text",                                                         \
              (__VA_ARGS__) == its_size && same(into, asked, (kal_uintptr)its_size) && into[its_size] == 'Z');        \
    } while (0)

#define TOO_LONG (((kal_uintptr)1 << 63) + 1) /* for a buffer: more than half the address space */
#define UNTOUCHED ((kal_uintptr)0x5a5a5a5a)   /* what an out-pointer's object holds before a call that fails */
#define SECOND ((kal_u64)1000000000)
#define MILLISECOND ((kal_u64)1000000)

#endif
