/* The SDK's functions against the C library's. mem.c is compiled with each name behind `sdk_`. SPEC: SDK-5 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void* sdk_memcpy(void* to, const void* from, size_t size);
void* sdk_memmove(void* to, const void* from, size_t size);
void* sdk_memset(void* to, int byte, size_t size);
int sdk_memcmp(const void* a, const void* b, size_t size);
int sdk_bcmp(const void* a, const void* b, size_t size);
size_t sdk_strlen(const char* text);

enum { ROOM = 160, MOST = 67 };

static unsigned char got[ROOM], want[ROOM], other[ROOM];

#define CHECK(fact)                                                                                     \
    do {                                                                                                \
        if (!(fact)) {                                                                                  \
            printf("%s: to %zu from %zu size %zu\n", #fact, to, from, size);                            \
            exit(1);                                                                                    \
        }                                                                                               \
    } while (0)

static int sign(int number)
{
    return (number > 0) - (number < 0);
}

static void fresh(void)
{
    for (int i = 0; i < ROOM; i++) {
        got[i] = want[i] = (unsigned char)(i * 7 + 1);
        other[i] = (unsigned char)(i * 13 + 5);
    }
}

static void check(size_t to, size_t from, size_t size)
{
    fresh();
    CHECK(sdk_memcpy(got + to, other + from, size) == got + to);
    memcpy(want + to, other + from, size);
    CHECK(!memcmp(got, want, ROOM));
    fresh();
    CHECK(sdk_memmove(got + to, got + from, size) == got + to);
    memmove(want + to, want + from, size);
    CHECK(!memcmp(got, want, ROOM));
    fresh();
    CHECK(sdk_memset(got + to, (int)(from + 200), size) == got + to);
    memset(want + to, (int)(from + 200), size);
    CHECK(!memcmp(got, want, ROOM));
    fresh();
    memcpy(other + from, got + to, size);
    CHECK(sdk_memcmp(got + to, other + from, size) == 0 && sdk_bcmp(got + to, other + from, size) == 0);
    for (size_t at = 0; at < size; at++) {
        other[from + at] ^= 0x80;
        CHECK(sign(sdk_memcmp(got + to, other + from, size)) == sign(memcmp(got + to, other + from, size)));
        CHECK(sdk_bcmp(got + to, other + from, size) != 0);
        other[from + at] ^= 0x80;
    }
    memset(got, 'a', ROOM);
    got[to + size] = 0;
    CHECK(sdk_strlen((char*)got + to) == size);
}

int main(void)
{
    for (size_t to = 0; to < 24; to++)
        for (size_t from = 0; from < 24; from += 3)
            for (size_t size = 0; size <= MOST; size++)
                check(to, from, size);
    puts("equal");
    return 0;
}
