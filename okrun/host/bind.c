/* Binding: the names that an image imports meet the functions that this host has. */
#include <openkal/version.h>

#include "binding.h"
#include "heap.h"
#include "load.h"
#include "surface.gen.h"

static const char *const interface_names[] = {KAL_INTERFACE_NAMES};

/* major << 32 | minor << 16 | patch: a later patch changes nothing that an image could need */
static bool version_answers(uint64_t have, uint64_t need)
{
    return have >> 32 == need >> 32 && (have >> 16 & 0xffff) >= (need >> 16 & 0xffff);
}

bool bind_check(const struct plan *plan, struct refusal *why)
{
    uint64_t have = kal_version(), need = plan->header->version;
    uint64_t missing = plan->header->required & ~kal_interfaces();

    if (!version_answers(have, need))
        return refuse(why, "%s: image needs openkal %lu.%lu.%lu (host answers %lu.%lu.%lu) [NOTE-4]", plan->path,
                      need >> 32, need >> 16 & 0xffff, need & 0xffff, have >> 32, have >> 16 & 0xffff, have & 0xffff);
    for (unsigned i = 0; i < 64; i++) {
        if ((missing >> i & 1) == 0)
            continue;
        if (i < sizeof interface_names / sizeof interface_names[0])
            return refuse(why, "%s: image requires %s, which this host does not answer [BIND-2]", plan->path,
                          interface_names[i]);
        return refuse(why, "%s: image requires the interface at position %u, which this host does not know [BIND-2]",
                      plan->path, i);
    }
    return true;
}

/* The function for a name, or null. What is not measured is the implementation itself (BIND-5). */
static void *function_for(const char *name, uint64_t measure)
{
    const struct binding *b = binding_find(name);
    void *function;

    if (b == NULL)
        return NULL;
    if ((measure & PLAN_MEASURE_CALLS) != 0)
        function = b->calls;
    else
        function = (measure & PLAN_MEASURE_COUNT) != 0 ? b->count : b->impl;
    return (measure & PLAN_MEASURE_HEAP) != 0 ? heap_entry(name, function) : function;
}

bool bind_symbols(const struct plan *plan, const uint8_t *base, uint64_t *values, struct refusal *why)
{
    const struct plan_header *h = plan->header;

    for (uint64_t i = 1; i < h->symbol_count; i++) {
        uint64_t value = plan->values[i];

        if (plan->kinds[i] == PLAN_SYMBOL_IMAGE) {
            value = (uintptr_t)base + (value - h->lo);
        } else if (plan->kinds[i] != PLAN_SYMBOL_ABSOLUTE) {
            const char *name = plan->imports.at + value;

            value = (uintptr_t)function_for(name, h->measure);
            if (value == 0 && plan->kinds[i] == PLAN_SYMBOL_KAL)
                return refuse(why, "%s: image imports %s, which this host does not answer [BIND-3]", plan->path, name);
        }
        values[i] = value;
    }
    return true;
}
