/* Binding, against a host of three functions: which name meets which entry, and what a refusal names. */
#include "binding.h"

#include <openkal/version.h>

#include "check.h"
#include "good_plan.h"
#include "heap.h"
#include "load.h"

static char exit_impl, exit_count, exit_calls;
static const struct binding kal_exit_binding = {"kal_exit", 0, &exit_impl, &exit_count, &exit_calls};

const struct binding *binding_find(const char *name)
{
    return strcmp(name, kal_exit_binding.name) == 0 ? &kal_exit_binding : NULL;
}

static const void *under_heap; /* what a heap entry is to call */

void *heap_entry(const char *name, void *function)
{
    CHECK(strcmp(name, "kal_exit") == 0);
    under_heap = function;
    return function;
}

kal_u64 kal_version(void)
{
    return KAL_VERSION_MAKE(0, 20, 0);
}

kal_u64 kal_interfaces(void)
{
    return KAL_IFACE_ABORT | KAL_IFACE_STREAM | KAL_IFACE_DEBUG;
}

static void check_values(unsigned measure, const void *want)
{
    struct good_plan good = good_plan();
    struct plan plan = view_of(&good);
    struct refusal why;
    uint64_t values[5] = {1, 1, 1, 1, 1};
    static uint8_t base[16];

    good.h.measure = measure;
    CHECK(bind_symbols(&plan, base, values, &why));
    CHECK(values[1] == (uintptr_t)base + (DATA + 8 - LO)); /* of the image: where it lies now */
    CHECK(values[2] == 77);                               /* absolute: as it is */
    CHECK(values[3] == (uintptr_t)want);                  /* kal_exit */
    CHECK(values[4] == 0);                                /* kal_foobar: weak, and not answered */
}

static void measuring_chooses_the_entry(void)
{
    check_values(0, &exit_impl);
    check_values(PLAN_MEASURE_COUNTERS, &exit_impl);
    check_values(PLAN_MEASURE_COUNT, &exit_count);
    check_values(PLAN_MEASURE_CALLS | PLAN_MEASURE_COUNT, &exit_calls);
    check_values(PLAN_MEASURE_PERFMAP, &exit_impl);
    CHECK(under_heap == NULL);
    check_values(PLAN_MEASURE_HEAP, &exit_impl);
    CHECK(under_heap == &exit_impl);
    check_values(PLAN_MEASURE_HEAP | PLAN_MEASURE_CALLS, &exit_calls);
    CHECK(under_heap == &exit_calls); /* the heap's is the outer one: what it does is not timed */
}

static void a_name_that_nothing_answers_is_refused(void)
{
    struct good_plan good = good_plan();
    struct plan plan = view_of(&good);
    struct refusal why;
    uint64_t values[5];

    good.kinds[4] = PLAN_SYMBOL_KAL;
    CHECK(!bind_symbols(&plan, NULL, values, &why));
    CHECK(strstr(why.text, "kal_foobar") != NULL && strstr(why.text, "[BIND-3]") != NULL);
}

static bool check(uint64_t version, uint64_t required, struct refusal *why)
{
    struct good_plan good = good_plan();
    struct plan plan = view_of(&good);

    good.h.version = version;
    good.h.required = required;
    return bind_check(&plan, why);
}

static void versions_are_compared_as_the_contract_says(void)
{
    struct refusal why;

    CHECK(check(KAL_VERSION_MAKE(0, 20, 0), 0, &why) && check(KAL_VERSION_MAKE(0, 19, 7), 0, &why));
    CHECK(check(KAL_VERSION_MAKE(0, 20, 9), 0, &why)); /* a patch adds nothing to need */
    CHECK(!check(KAL_VERSION_MAKE(0, 21, 0), 0, &why));
    CHECK(strstr(why.text, "image needs openkal 0.21.0 (host answers 0.20.0) [NOTE-4]") != NULL);
    CHECK(!check(KAL_VERSION_MAKE(1, 0, 0), 0, &why) && strstr(why.text, "1.0.0") != NULL);
}

static void a_required_interface_is_named(void)
{
    struct refusal why;

    CHECK(check(0, KAL_IFACE_ABORT | KAL_IFACE_DEBUG, &why));
    CHECK(!check(0, KAL_IFACE_STREAM | KAL_IFACE_FS | KAL_IFACE_NET, &why));
    CHECK(strstr(why.text, "requires openkal.fs,") != NULL && strstr(why.text, "[BIND-2]") != NULL);
    CHECK(!check(0, UINT64_C(1) << 63, &why) && strstr(why.text, "position 63") != NULL);
}

int main(void)
{
    measuring_chooses_the_entry();
    a_name_that_nothing_answers_is_refused();
    versions_are_compared_as_the_contract_says();
    a_required_interface_is_named();
    return 0;
}
