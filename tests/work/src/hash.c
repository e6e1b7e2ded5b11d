/* hash: walks the directory `tree` in the working directory, and says of each file in it, as sha256sum does, its
 * SHA-256, two spaces and its name, a line. Source: FIPS 180-4. */
#include <openkal/abort.h>
#include <openkal/fs.h>

#include "../../e2e/src/text.h"

enum { BLOCK = 64, LONGEST = 4096 };

static kal_u32 k[64], first[8]; /* of the cube roots of the first 64 primes, and the square roots of the first 8 */

struct sha256 {
    kal_u32 h[8];
    kal_u64 size;
    kal_u8 block[BLOCK];
};

/* The first 32 bits behind the point of the root of a prime: the largest x of which x to that power is not above. */
static kal_u32 root_bits(kal_u64 prime, int power)
{
    kal_u64 low = 0, high = (kal_u64)1 << 37; /* roots of 32 bits behind the point: the primes are below 2^9 */

    while (high - low > 1) {
        kal_u64 middle = low + (high - low) / 2;
        unsigned __int128 wide = (unsigned __int128)middle * middle, most = (unsigned __int128)prime << 64;

        /* A cube has 96 bits behind the point and may have more than 128 in all: the last 32 are left out of both. */
        if (power == 3) {
            unsigned __int128 upper = (wide >> 32) * middle, lower = (wide & 0xffffffff) * middle >> 32;

            wide = upper + lower;
        }
        if (wide <= most)
            low = middle;
        else
            high = middle;
    }
    return (kal_u32)low;
}

static void prepare(void)
{
    int found = 0;

    for (kal_u64 n = 2; found < 64; n++) {
        int is_prime = 1;

        for (kal_u64 d = 2; d * d <= n; d++)
            is_prime &= n % d != 0;
        if (!is_prime)
            continue;
        if (found < 8)
            first[found] = root_bits(n, 2);
        k[found++] = root_bits(n, 3);
    }
}

static kal_u32 turn(kal_u32 x, int n)
{
    return x >> n | x << (32 - n);
}

static void add_block(struct sha256* sum)
{
    kal_u32 w[64], s[8];

    for (int t = 0; t < 16; t++) {
        const kal_u8* p = sum->block + 4 * t;

        w[t] = (kal_u32)p[0] << 24 | (kal_u32)p[1] << 16 | (kal_u32)p[2] << 8 | p[3];
    }
    for (int t = 16; t < 64; t++) {
        kal_u32 a = turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ w[t - 15] >> 3;
        kal_u32 b = turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ w[t - 2] >> 10;

        w[t] = b + w[t - 7] + a + w[t - 16];
    }
    for (int i = 0; i < 8; i++)
        s[i] = sum->h[i];
    for (int t = 0; t < 64; t++) {
        kal_u32 e = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25), choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        kal_u32 a = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22);
        kal_u32 t1 = s[7] + e + choice + k[t] + w[t], t2 = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

        for (int i = 7; i > 0; i--)
            s[i] = s[i - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        sum->h[i] += s[i];
}

static void add(struct sha256* sum, const kal_u8* bytes, kal_uintptr size)
{
    for (kal_uintptr i = 0; i < size; i++) {
        sum->block[sum->size++ % BLOCK] = bytes[i];
        if (sum->size % BLOCK == 0)
            add_block(sum);
    }
}

static void end(struct sha256* sum, char text[64])
{
    kal_u64 bits = sum->size * 8;
    kal_u8 byte = 0x80;

    add(sum, &byte, 1);
    for (byte = 0; sum->size % BLOCK != 56;)
        add(sum, &byte, 1);
    for (int shift = 56; shift >= 0; shift -= 8) {
        byte = (kal_u8)(bits >> shift);
        add(sum, &byte, 1);
    }
    for (int i = 0; i < 64; i++)
        text[i] = "0123456789abcdef"[sum->h[i / 8] >> (28 - i % 8 * 4) & 15];
}

static void hash(struct kal_file file, const char* name, kal_uintptr length)
{
    static kal_u8 bytes[65536];
    struct kal_stream stream = kal_fs_stream(file);
    struct sha256 sum = {.size = 0};
    char line[64 + 2 + LONGEST + 1];
    kal_intptr got;

    __builtin_memcpy(sum.h, first, sizeof first);
    while ((got = kal_stream_read(stream, bytes, sizeof bytes)) > 0)
        add(&sum, bytes, (kal_uintptr)got);
    if (got < 0)
        kal_exit(3);
    end(&sum, line);
    line[64] = line[65] = ' ';
    __builtin_memcpy(line + 66, name, length);
    line[66 + length] = '\n';
    put(line, 66 + length + 1);
}

/* What lies in dir, whose name is the first `length` bytes of name. */
static void walk(struct kal_dir dir, char* name, kal_uintptr length)
{
    kal_uintptr iter, size, start = length + 1;
    int kind;

    name[length] = '/';
    if (kal_fs_list_begin(dir, &iter) != kal_ok)
        kal_exit(2);
    for (;;) {
        struct kal_dir below;
        struct kal_file file;

        if (kal_fs_list_next(dir, &iter, name + start, LONGEST - start, &size, &kind) != kal_ok)
            kal_exit(2);
        if (iter == 0)
            return;
        if (kind == kal_node_directory && kal_fs_open_dir(dir, name + start, size, &below) == kal_ok) {
            walk(below, name, start + size);
            kal_fs_close_dir(below);
        } else if (kind == kal_node_file && kal_fs_open(dir, name + start, size, KAL_OPEN_READ, &file) == kal_ok) {
            hash(file, name, start + size);
            kal_fs_close_file(file);
        } else {
            kal_exit(4);
        }
    }
}

int main(void)
{
    static char name[LONGEST] = "tree";
    struct kal_dir here, tree;
    kal_uintptr length;

    prepare();
    if (kal_fs_preopen(0, &here, 0, 0, &length) != kal_ok || kal_fs_open_dir(here, "tree", 4, &tree) != kal_ok)
        return 1;
    walk(tree, name, 4);
    return 0;
}
