/* Phases.
 *
 * A call costs nothing more for them. When the phase changes, what all threads have is added up, and what that is more
 * than at the change before is put down to the name of the phase that ends. So the phases and what is outside all of
 * them always come to the whole, whoever calls meanwhile.
 *
 * The process may end in the middle of a change, in a signal handler above the thread that makes it, or in another. All
 * that a change writes is therefore written beside what it was (kept.h), and holds when the number of changes is raised
 * at the end; until then nothing has changed. */
#include "phases.h"

#include <string.h>

#include "count.h"
#include "counters.h"
#include "kept.h"
#include "measure.h"
#include "plan.h"
#include "surface.gen.h"

#define SLOTS ((size_t)2 * PHASE_NAMES_MOST)

static const char *const functions[KAL_FUNCTION_COUNT] = {
#define FUNCTION(name, position) #name,
    KAL_SURFACE(FUNCTION)
};

/* Of one function. */
struct total {
    struct versions versions;
    struct call_stats of[2];
};

/* What all phases of a name have. */
struct name {
    struct name *next;
    struct versions versions;
    struct {
        uint64_t count, elapsed;
    } of[2];
    struct total *calls[KAL_FUNCTION_COUNT];
    struct growth *counters;
    uint8_t length;
    char text[];
};

struct phase {
    struct phase *next;
    const struct name *name;
    uint64_t start, end; /* since the program's start */
};

/* How things are after a change. */
struct state {
    struct name *name;   /* of the phase that goes on, or null */
    uint64_t start;      /* when it began */
    struct phase *phase; /* it in the list, or null where it is left out */
    struct phase *last;  /* in the list */
    uint64_t kept, left_out;
};

static struct name *names, **names_end = &names, *slots[SLOTS];
static size_t name_count;
static struct phase *phases;
static struct state states[2]; /* after change n: the one of index n % 2 */
static uint64_t changes, changes_at_end;
static bool over;
static struct total last[KAL_FUNCTION_COUNT]; /* what all threads had at a change */

/* Of the change that is being made. */
static struct call_stats taken[KAL_FUNCTION_COUNT];
static bool moved[KAL_FUNCTION_COUNT];

/* The longest calls of the phase that goes on, as far as they are in no thread's block any more: since a change. */
static struct {
    uint64_t change, ticks;
} longest[KAL_FUNCTION_COUNT];

/* The record of a name, made where there is none; null where there is no memory, or no room for another. */
static struct name *have(const char *text, size_t length)
{
    size_t i = (size_t)kept_hash(text, length, 0);
    struct name *name;

    while ((name = slots[i % SLOTS]) != NULL && (name->length != length || memcmp(name->text, text, length) != 0))
        i++;
    if (name || name_count == PHASE_NAMES_MOST)
        return name;
    name = kept(sizeof *name + length);
    if (!name)
        return NULL;
    name->length = (uint8_t)length;
    memcpy(name->text, text, length);
    slots[i % SLOTS] = name;
    name_count++;
    __atomic_store_n(names_end, name, __ATOMIC_RELEASE);
    names_end = &name->next;
    return name;
}

static const struct call_stats *at(const struct total *total, uint64_t change)
{
    return &total->of[version_at(&total->versions, change)];
}

/* See what has been called since the last change, and have room to put it down to a name, or to none.
 * Ensures:  true; false where there is no memory. Nothing that a reader sees is changed but `longest`. */
static bool take_calls(struct name *name)
{
    for (size_t i = 0; i < KAL_FUNCTION_COUNT; i++) {
        moved[i] = count_moved(i, at(&last[i], changes));
        if (!moved[i])
            continue;
        if (name && !name->calls[i]) {
            struct total *fresh = kept(sizeof *fresh);

            if (!fresh)
                return false;
            __atomic_store_n(&name->calls[i], fresh, __ATOMIC_RELEASE);
        }
        if (longest[i].change != changes) {
            longest[i].ticks = 0;
            __atomic_store_n(&longest[i].change, changes, __ATOMIC_RELEASE);
        }
        count_take(i, &taken[i], &longest[i].ticks);
    }
    return true;
}

static void put_down_calls(struct name *name)
{
    for (size_t i = 0; i < KAL_FUNCTION_COUNT; i++) {
        int next = 1 - version_at(&last[i].versions, changes);

        if (!moved[i])
            continue;
        last[i].of[next] = taken[i];
        if (name) {
            struct total *calls = name->calls[i];
            int newer = 1 - version_at(&calls->versions, changes);
            struct call_stats *to = &calls->of[newer];

            *to = calls->of[1 - newer];
            stats_add(to, &taken[i], &last[i].of[1 - next]);
            to->max = longest[i].ticks > to->max ? longest[i].ticks : to->max;
            version_set(&calls->versions, newer, changes + 1);
        }
        version_set(&last[i].versions, next, changes + 1);
    }
}

/* Add to what a name has; twice in one change where a phase follows one of the same name. */
static void put_down(struct name *name, uint64_t count, uint64_t elapsed)
{
    int next = 1 - version_at(&name->versions, changes), newest = version_at(&name->versions, changes + 1);
    uint64_t count_before = name->of[newest].count, elapsed_before = name->of[newest].elapsed;

    name->of[next].count = count_before + count;
    name->of[next].elapsed = elapsed_before + elapsed;
    version_set(&name->versions, next, changes + 1);
}

/* Begin a phase of a name: in the list, where record is not null. */
static void begin(struct state *state, struct name *name, struct phase *record, uint64_t now)
{
    state->name = name;
    state->start = now;
    state->phase = record;
    put_down(name, 1, 0);
    if (!record) {
        state->left_out++;
        return;
    }
    *record = (struct phase){NULL, name, now, now};
    if (state->last)
        state->last->next = record;
    else
        phases = record;
    state->last = record;
    state->kept++;
}

static bool change(const char *text, size_t length)
{
    const struct state *before = &states[changes % 2];
    struct state *after = &states[(changes + 1) % 2];
    uint64_t now = measure_elapsed();
    struct name *name = NULL;
    struct phase *record = NULL;

    if (length > 0) {
        name = have(text, length);
        record = name && before->kept < PHASES_MOST ? kept(sizeof *record) : NULL;
        if (!name || (!record && before->kept < PHASES_MOST))
            return false;
    }
    if (!take_calls(before->name) || !counters_take(before->name ? &before->name->counters : NULL, changes))
        return false;
    put_down_calls(before->name);
    counters_put_down(before->name ? &before->name->counters : NULL, changes, name != NULL);
    *after = *before;
    after->name = NULL;
    after->phase = NULL;
    if (before->name)
        put_down(before->name, 0, now - before->start);
    if (before->phase)
        before->phase->end = now;
    if (name)
        begin(after, name, record, now);
    __atomic_store_n(&changes, changes + 1, __ATOMIC_SEQ_CST);
    return true;
}

/* A change that was begun before the process ends may still come to be whole, but none begins after it: so what the end
 * reads, at the number of changes that it found after it had said so, is not written over. */
bool phases_change(const char *name, size_t length)
{
    bool done;

    pthread_mutex_lock(&kept_lock);
    done = __atomic_load_n(&over, __ATOMIC_SEQ_CST) || change(name, length);
    pthread_mutex_unlock(&kept_lock);
    return done;
}

void phases_forget(void)
{
    over = false;
    if (name_count == 0)
        return; /* there was none */
    names = NULL;
    names_end = &names;
    memset(slots, 0, sizeof slots);
    name_count = 0;
    phases = NULL;
    memset(states, 0, sizeof states);
    changes = 0;
    memset(last, 0, sizeof last);
    memset(longest, 0, sizeof longest);
}

uint64_t phases_end(void)
{
    uint64_t now;

    __atomic_store_n(&over, true, __ATOMIC_SEQ_CST);
    changes_at_end = __atomic_load_n(&changes, __ATOMIC_SEQ_CST);
    now = measure_elapsed(); /* not before the last change */
    count_end();
    counters_end(changes_at_end);
    return now;
}

static void write_phase(struct json *json, const struct phase *phase, uint64_t end)
{
    json_begin(json, '{');
    json_key(json, "name");
    json_string(json, phase->name->text, phase->name->length);
    json_pair_number(json, "start_ns", phase->start);
    json_pair_number(json, "elapsed_ns", end - phase->start);
    json_end(json, '}');
}

static void write_phases(struct json *json, const struct state *state, uint64_t now)
{
    json_key(json, "phases");
    json_begin(json, '[');
    for (const struct phase *phase = state->last ? phases : NULL; phase; phase = phase->next) {
        write_phase(json, phase, phase == state->phase ? now : phase->end);
        if (phase == state->last)
            break;
    }
    json_end(json, ']');
    json_pair_number(json, "phases_left_out", state->left_out);
}

/* What a name has of a function, at the end. */
static struct call_stats calls_of(const struct name *name, size_t index, bool goes_on)
{
    const struct total *calls = __atomic_load_n(&name->calls[index], __ATOMIC_ACQUIRE);
    struct call_stats sum = {0};

    if (calls)
        sum = *at(calls, changes_at_end);
    if (goes_on) {
        const struct call_stats *now = count_ended(index);

        stats_add(&sum, now, at(&last[index], changes_at_end));
        sum.max = now->max > sum.max ? now->max : sum.max;
        if (__atomic_load_n(&longest[index].change, __ATOMIC_ACQUIRE) == changes_at_end)
            sum.max = longest[index].ticks > sum.max ? longest[index].ticks : sum.max;
    }
    return sum;
}

static void write_calls(struct json *json, const struct name *name, bool goes_on)
{
    bool timed = (measure_what() & PLAN_MEASURE_CALLS) != 0;

    json_key(json, "calls");
    json_begin(json, '[');
    for (size_t i = 0; i < KAL_FUNCTION_COUNT; i++) {
        struct call_stats sum = calls_of(name, i, goes_on);

        if (sum.count == 0 && sum.entered == 0)
            continue;
        json_begin(json, '{');
        json_pair_text(json, "name", functions[i]);
        stats_write(json, &sum, timed);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void write_totals(struct json *json, const struct state *state, uint64_t now)
{
    json_key(json, "phase_totals");
    json_begin(json, '[');
    for (const struct name *name = __atomic_load_n(&names, __ATOMIC_ACQUIRE); name;
         name = __atomic_load_n(&name->next, __ATOMIC_ACQUIRE)) {
        int version = version_at(&name->versions, changes_at_end);
        bool goes_on = name == state->name;

        if (name->of[version].count == 0)
            continue;
        json_begin(json, '{');
        json_key(json, "name");
        json_string(json, name->text, name->length);
        json_pair_number(json, "count", name->of[version].count);
        json_pair_number(json, "elapsed_ns", name->of[version].elapsed + (goes_on ? now - state->start : 0));
        write_calls(json, name, goes_on);
        json_key(json, "counters");
        counters_write_growth(json, &name->counters, changes_at_end, goes_on);
        json_end(json, '}');
    }
    json_end(json, ']');
}

void phases_write(struct json *json, uint64_t now)
{
    const struct state *state = &states[changes_at_end % 2];

    write_phases(json, state, now);
    write_totals(json, state, now);
}
