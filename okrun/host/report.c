#include "report.h"

#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "count.h"
#include "counters.h"
#include "heap.h"
#include "host.h"
#include "json.h"
#include "phases.h"
#include "report_file.h"
#include "surface.gen.h"

static struct json json; /* one report a process, and a handler's stack is small */

static const struct {
    const char *name;
    int position;
} functions[KAL_FUNCTION_COUNT] = {
#define FUNCTION(name, position) {#name, position},
    KAL_SURFACE(FUNCTION)
};
static const char *const interfaces[] = {KAL_INTERFACE_NAMES};

static void write_text_or_null(const char *key, const char *text)
{
    json_key(&json, key);
    if (*text)
        json_string(&json, text, strlen(text));
    else
        json_null(&json);
}

static void write_image(const struct plan *plan)
{
    json_key(&json, "image");
    json_begin(&json, '{');
    json_pair_text(&json, "path", plan->path);
    write_text_or_null("build_id", plan->build_id);
    json_pair_text(&json, "arch", HOST_ARCH);
    json_end(&json, '}');
}

static void write_arguments(void)
{
    json_key(&json, "argv");
    json_begin(&json, '[');
    for (int i = 0; i < host_image.argc; i++)
        json_string(&json, host_image.argv[i], strlen(host_image.argv[i]));
    json_end(&json, ']');
}

static void write_what(void)
{
    static const char *const names[] = {"count", "calls", "counters", "perfmap", "heap"}; /* enum plan_measure's bits */

    json_key(&json, "what");
    json_begin(&json, '[');
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((measure_what() >> i & 1) != 0)
            json_string(&json, names[i], strlen(names[i]));
    }
    json_end(&json, ']');
}

int report_write_head(int fd, const char *id, uint64_t started_wall)
{
    json_start(&json, fd);
    json_begin(&json, '{');
    json_pair_number(&json, "okprof", 2);
    json_pair_text(&json, "id", id);
    write_text_or_null("run", host_image.plan->run);
    write_image(host_image.plan);
    json_pair_number(&json, "pid", (uint64_t)getpid());
    write_arguments();
    write_what();
    json_pair_number(&json, "started_ns", started_wall);
    json_break(&json);
    return json.error;
}

static void write_end(const struct end *end)
{
    static const char *const names[] = {"return", "exit", "abort", "signal"}; /* by enum end_by */

    json_key(&json, "ended");
    json_begin(&json, '{');
    json_pair_text(&json, "by", names[end->by]);
    json_pair_number(&json, "status", (uint64_t)(end->status & 0xff));
    json_key(&json, "signal");
    if (end->signal_number)
        json_number(&json, (uint64_t)end->signal_number);
    else
        json_null(&json);
    json_end(&json, '}');
}

static void write_clock(void)
{
    unsigned wrapped = measure_what() & (PLAN_MEASURE_COUNT | PLAN_MEASURE_CALLS);

    json_key(&json, "clock");
    json_begin(&json, '{');
    json_pair_text(&json, "source", clock_name());
    json_key(&json, "overhead_ns");
    json_tenths(&json, wrapped ? count_overhead((wrapped & PLAN_MEASURE_CALLS) != 0) : 0);
    json_end(&json, '}');
}

static void write_call(size_t index)
{
    struct call_stats total = *count_ended(index);

    total.max = count_longest(index);
    json_begin(&json, '{');
    json_pair_text(&json, "name", functions[index].name);
    write_text_or_null("interface", functions[index].position < 0 ? "" : interfaces[functions[index].position]);
    stats_write(&json, &total, (measure_what() & PLAN_MEASURE_CALLS) != 0);
    json_end(&json, '}');
}

static void write_calls(void)
{
    json_key(&json, "calls");
    json_begin(&json, '[');
    for (size_t i = 0; i < KAL_FUNCTION_COUNT; i++) {
        if (count_ended(i)->count != 0)
            write_call(i);
    }
    json_end(&json, ']');
}

int report_write_rest(const struct end *end)
{
    uint64_t now = phases_end();

    clock_settle();
    json_pair_number(&json, "elapsed_ns", now);
    write_end(end);
    write_clock();
    json_pair_number(&json, "tasks", count_threads());
    write_calls();
    json_key(&json, "counters");
    counters_write(&json);
    phases_write(&json, now);
    json_key(&json, "lost");
    counters_write_lost(&json);
    json_key(&json, "heap");
    if ((measure_what() & PLAN_MEASURE_HEAP) != 0)
        heap_write(&json, report_file_directory(), report_file_id());
    else
        json_null(&json);
    json_end(&json, '}');
    return json_finish(&json) ? 0 : json.error;
}
