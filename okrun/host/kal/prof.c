/* openkal.prof: what the program says to whoever measures it. */
#include <openkal/prof.h>
#include <stdbool.h>

#include "../counters.h"
#include "../measure.h"
#include "../phases.h"
#include "../plan.h"

/* Whether a name is UTF-8 without control bytes, and not too long. SPEC: RI-1 */
static bool is_name(const char *name, kal_uintptr length)
{
    if (!name || length > COUNTER_NAME_MOST)
        return false;
    while (length > 0) {
        uint32_t character;
        size_t n = utf8_character(name, length, &character);

        if (n == 0 || character < 0x20 || character == 0x7f)
            return false;
        name += n;
        length -= n;
    }
    return true;
}

/* Ensures:  kal_ok; kal_err_invalid for what is no name and for a null cell, measured or not; kal_err_no_memory.
 * SPEC: RI-1 */
int kal_prof_counter(const char *name, kal_uintptr len, const kal_u64 *cell)
{
    if (len == 0 || !is_name(name, len) || !cell)
        return kal_err_invalid;
    if (measure_what() == 0)
        return kal_ok;
    return counters_add(name, len, (const uint64_t *)cell) ? kal_ok : kal_err_no_memory;
}

/* Ensures:  as above; a length of 0 needs no name.                 SPEC: RI-3 */
int kal_prof_phase(const char *name, kal_uintptr len)
{
    if (len > 0 && !is_name(name, len))
        return kal_err_invalid;
    if (measure_what() == 0)
        return kal_ok;
    return phases_change(name, len) ? kal_ok : kal_err_no_memory;
}

kal_uintptr kal_prof_props(void)
{
    unsigned what = measure_what();
    kal_uintptr calls = (what & (PLAN_MEASURE_CALLS | PLAN_MEASURE_COUNT)) != 0 ? KAL_PROF_PROP_CALLS : 0;
    kal_uintptr heap = (what & PLAN_MEASURE_HEAP) != 0 ? KAL_PROF_PROP_HEAP : 0;

    return what == 0 ? 0 : calls | heap | KAL_PROF_PROP_COUNTERS; /* SPEC: RI-4 */
}
