#include "stats.h"

#include "clock.h"

void stats_add(struct call_stats *to, const struct call_stats *now, const struct call_stats *before)
{
    to->count += now->count - before->count;
    to->entered += now->entered - before->entered;
    to->ticks += now->ticks - before->ticks;
    for (size_t i = 0; i < CALL_BUCKETS; i++)
        to->log2[i] += now->log2[i] - before->log2[i];
}

static void write_times(struct json *json, const struct call_stats *stats)
{
    size_t buckets = CALL_BUCKETS;

    json_pair_number(json, "total_ns", clock_ns(stats->ticks));
    json_pair_number(json, "max_ns", clock_ns(stats->max));
    json_key(json, "log2_ns");
    json_begin(json, '[');
    while (buckets > 0 && stats->log2[buckets - 1] == 0)
        buckets--;
    for (size_t i = 0; i < buckets; i++)
        json_number(json, stats->log2[i]);
    json_end(json, ']');
}

void stats_write(struct json *json, const struct call_stats *stats, bool timed)
{
    static const char *const times[] = {"total_ns", "max_ns", "log2_ns"};

    json_pair_number(json, "count", stats->count);
    if (timed) {
        write_times(json, stats);
        return;
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        json_key(json, times[i]);
        json_null(json);
    }
}
