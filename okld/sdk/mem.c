/* The functions that compilers call without being asked to. Weak, so that an image can bring its own; the linker
 * drops those that nothing calls.
 *
 * A compiler recognises such loops and would replace the body of memcpy by a call of memcpy. The empty assembly in
 * each loop keeps it from doing so, whatever its options are. */

#include <openkal/types.h>

#define KEEP_LOOP(pointer) __asm__("" : "+r"(pointer))
#define CALLED_BY_COMPILERS __attribute__((weak, used)) /* used: link-time optimisation drops what nothing calls yet */

/* A word of a copy: at any address, and of any type that the image gave the bytes. */
struct word {
    kal_u64 bits;
} __attribute__((packed, may_alias));

#ifdef __cplusplus /* C++ drivers compile C sources as C++ */
extern "C" {
#endif

void* memcpy(void* to, const void* from, kal_uintptr size);
void* memmove(void* to, const void* from, kal_uintptr size);
void* memset(void* to, int byte, kal_uintptr size);
int memcmp(const void* a, const void* b, kal_uintptr size);
int bcmp(const void* a, const void* b, kal_uintptr size);
kal_uintptr strlen(const char* text);
KAL_NORETURN void __cxa_pure_virtual(void);

#ifdef __cplusplus
}
#endif

/* Copy size bytes upwards; right for ranges that overlap when to is below from. */
static void copy_up(unsigned char* to, const unsigned char* from, kal_uintptr size)
{
    for (; size >= 8; size -= 8, to += 8, from += 8) {
        KEEP_LOOP(to);
        ((struct word*)to)->bits = ((const struct word*)from)->bits;
    }
    for (; size; size--) {
        KEEP_LOOP(to);
        *to++ = *from++;
    }
}

/* Copy size bytes downwards; right for ranges that overlap when to is above from. */
static void copy_down(unsigned char* to, const unsigned char* from, kal_uintptr size)
{
    to += size;
    from += size;
    for (; size >= 8; size -= 8) {
        to -= 8;
        from -= 8;
        KEEP_LOOP(to);
        ((struct word*)to)->bits = ((const struct word*)from)->bits;
    }
    for (; size; size--) {
        KEEP_LOOP(to);
        *--to = *--from;
    }
}

/* Ensures: to[0 .. size) is what from[0 .. size) was. Requires: the ranges do not overlap.      Source: C11 7.24.2.1 */
CALLED_BY_COMPILERS void* memcpy(void* to, const void* from, kal_uintptr size)
{
    copy_up((unsigned char*)to, (const unsigned char*)from, size);
    return to;
}

/* Ensures: to[0 .. size) is what from[0 .. size) was, overlapping or not.                       Source: C11 7.24.2.2 */
CALLED_BY_COMPILERS void* memmove(void* to, const void* from, kal_uintptr size)
{
    if ((kal_uintptr)to <= (kal_uintptr)from)
        copy_up((unsigned char*)to, (const unsigned char*)from, size);
    else
        copy_down((unsigned char*)to, (const unsigned char*)from, size);
    return to;
}

/* Ensures: every byte of to[0 .. size) is byte.                                                 Source: C11 7.24.6.1 */
CALLED_BY_COMPILERS void* memset(void* to, int byte, kal_uintptr size)
{
    unsigned char* p = (unsigned char*)to;
    kal_u64 bits = (kal_u64)(unsigned char)byte * 0x0101010101010101u;

    for (; size >= 8; size -= 8, p += 8) {
        KEEP_LOOP(p);
        ((struct word*)p)->bits = bits;
    }
    for (; size; size--) {
        KEEP_LOOP(p);
        *p++ = (unsigned char)byte;
    }
    return to;
}

/* Ensures: the sign of the first difference, as unsigned bytes; 0 when there is none.           Source: C11 7.24.4.1 */
CALLED_BY_COMPILERS int memcmp(const void* a, const void* b, kal_uintptr size)
{
    const unsigned char *p = (const unsigned char*)a, *q = (const unsigned char*)b;

    for (; size; size--, p++, q++) {
        KEEP_LOOP(p);
        if (*p != *q)
            return *p - *q;
    }
    return 0;
}

/* What compilers make of a memcmp that is only compared with 0.                                 Source: POSIX.1-2001 */
CALLED_BY_COMPILERS int bcmp(const void* a, const void* b, kal_uintptr size)
{
    return memcmp(a, b, size);
}

/* Ensures: the number of bytes before the first NUL.                                            Source: C11 7.24.6.3 */
CALLED_BY_COMPILERS kal_uintptr strlen(const char* text)
{
    const char* p = text;

    while (*p) {
        p++;
        KEEP_LOOP(p);
    }
    return (kal_uintptr)(p - text);
}

/* What the table of an abstract C++ class has for a function that it does not define.
 * Ensures: the program ends with SIGILL or SIGTRAP, and its crash report names the caller.
 *                                                                             Source: Itanium C++ ABI 3.2.6 */
CALLED_BY_COMPILERS void __cxa_pure_virtual(void)
{
    __builtin_trap();
}
