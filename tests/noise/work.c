/* Work whose times are compared: work.ok BYTES FILLS
 *
 * Calls of a dozen functions in three phases. The calls of kal_random_fill ask for BYTES each, and their time is
 * proportional to that: with a tenth more, that one call is a tenth slower, and all others do what they did. FILLS says
 * how many they are; of the others there are fifty times as many, which take about half as long. */
#include <openkal/openkal.h>

#define MOST (1u << 20)
#define OTHERS 50
#define SIZES 512

static unsigned char bytes[MOST];
static kal_u64 filled;

static kal_uintptr argument(kal_uintptr at, kal_uintptr most)
{
    char word[16];
    kal_intptr len = kal_env_arg(at, word, sizeof word);
    kal_uintptr value = 0;

    for (kal_intptr i = 0; i < len && i < (kal_intptr)sizeof word; i++)
        value = 10 * value + (kal_uintptr)(word[i] - '0');
    return value < most ? value : most;
}

static void fill(kal_uintptr size, kal_uintptr times)
{
    kal_prof_phase("fill", 4);
    while (times--) {
        kal_random_fill(bytes, size);
        filled += size;
    }
}

static void write(kal_uintptr times)
{
    struct kal_stream out = kal_stdout();

    kal_prof_phase("write", 5);
    while (times--) {
        kal_stream_write(out, bytes, 512);
        kal_stream_flush(out);
        (void)kal_stream_props(out);
        (void)kal_time_wall();
        (void)kal_time_monotonic();
    }
}

static void allocate(kal_uintptr times)
{
    kal_prof_phase("memory", 6);
    while (times--) {
        kal_uintptr size = 16 * (1 + times % SIZES);
        unsigned char *block = kal_alloc(size, 16);

        if (block)
            block[0] = 1;
        kal_free(block, size, 16);
        (void)kal_memory_granularity();
    }
}

int main(void)
{
    kal_uintptr size = argument(1, MOST), times = argument(2, MOST);

    kal_prof_counter("bytes filled", 12, &filled);
    fill(size, times);
    write(OTHERS * times);
    allocate(OTHERS * times);
    return 0;
}
