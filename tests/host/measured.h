/* What a measured image stands on, without an image: it is bound as one is. */
#ifndef TEST_MEASURED_H
#define TEST_MEASURED_H

#include <openkal/openkal.h>
#include <string.h>

#include "binding.h"
#include "check.h"
#include "host.h"
#include "measure.h"
#include "names.h"

struct image host_image;

int names_lookup(uintptr_t address, char *out, size_t cap, size_t *length, uint64_t *offset)
{
    (void)address, (void)out, (void)cap, (void)length, (void)offset;
    return 0;
}

/* A function of the surface as this image would be bound to it. */
static inline void *bound(const char *name)
{
    const struct binding *b = binding_find(name);
    unsigned what = measure_what();

    return (what & PLAN_MEASURE_CALLS) ? b->calls : (what & PLAN_MEASURE_COUNT) ? b->count : b->impl;
}
#define CALL(name, ...) ((__typeof__(name) *)bound(#name))(__VA_ARGS__)

struct scenario {
    const char *name;
    void (*run)(void);
};

/* Measure the scenario of the fifth word, as the first four say: WHAT DIRECTORY PATH BUILD_ID; RUN in the environment is
 * the run that it belongs to. Ensures:  it ends as by a return of 3, unless it ends by itself. */
static inline void run_scenario(int argc, char **argv, const struct scenario *scenarios, size_t count)
{
    static struct plan_header header;
    static struct plan plan = {.header = &header, .run = ""};
    const char *name;

    CHECK(argc >= 6);
    name = argv[5];
    argv[5] = argv[3];
    plan.path = argv[3];
    plan.build_id = argv[4];
    plan.report_dir = argv[2];
    if (getenv("RUN"))
        plan.run = getenv("RUN");
    host_image = (struct image){.plan = &plan, .argc = argc - 5, .argv = argv + 5};
    measure_begin((unsigned)atoi(argv[1]));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, scenarios[i].name) == 0) {
            scenarios[i].run();
            measure_end(END_RETURN, 3, 0);
            _exit(3);
        }
    }
    fprintf(stderr, "no scenario: %s\n", name);
    exit(1);
}

#endif
