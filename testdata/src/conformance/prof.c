#define INTERFACE "prof"
#include "conformance.h"

#define NAME(text) (text), size_of(text)

int main(void)
{
    static kal_u64 cell, other;
    static char longest[256];
    const kal_uintptr assigned = KAL_PROF_PROP_CALLS | KAL_PROF_PROP_COUNTERS | KAL_PROF_PROP_HEAP;

    __builtin_memset(longest, 'n', sizeof longest);
    CHECK(kal_prof_props, "unassigned positions are 0", (kal_prof_props() & ~assigned) == 0);
    CHECK(kal_prof_props, "is the same at every call", kal_prof_props() == kal_prof_props());
    CHECK(kal_prof_counter, "registers a cell", kal_prof_counter(NAME("steps"), &cell) == kal_ok);
    CHECK(kal_prof_counter, "twice, and another of the name",
          kal_prof_counter(NAME("steps"), &cell) == kal_ok && kal_prof_counter(NAME("steps"), &other) == kal_ok);
    CHECK(kal_prof_counter, "a name of 255 bytes", kal_prof_counter(longest, 255, &cell) == kal_ok);
    CHECK(kal_prof_counter, "a name of 0 or 256 bytes is kal_err_invalid",
          kal_prof_counter("x", 0, &cell) == kal_err_invalid &&
              kal_prof_counter(longest, 256, &cell) == kal_err_invalid);
    CHECK(kal_prof_counter, "null pointers are kal_err_invalid",
          kal_prof_counter(0, 1, &cell) == kal_err_invalid && kal_prof_counter(NAME("x"), 0) == kal_err_invalid);
    CHECK(kal_prof_counter, "control bytes and what is not UTF-8 are kal_err_invalid",
          kal_prof_counter(NAME("a\nb"), &cell) == kal_err_invalid &&
              kal_prof_counter(NAME("\xff"), &cell) == kal_err_invalid);
    CHECK(kal_prof_phase, "begins one",
          kal_prof_phase(NAME("first")) == kal_ok && kal_prof_phase(NAME("second")) == kal_ok);
    CHECK(kal_prof_phase, "a length of 0 ends it",
          kal_prof_phase("x", 0) == kal_ok && kal_prof_phase("x", 0) == kal_ok);
    CHECK(kal_prof_phase, "a name of 255 bytes", kal_prof_phase(longest, 255) == kal_ok);
    CHECK(kal_prof_phase, "a name of 256 bytes is kal_err_invalid", kal_prof_phase(longest, 256) == kal_err_invalid);
    CHECK(kal_prof_phase, "null with a length is kal_err_invalid", kal_prof_phase(0, 1) == kal_err_invalid);
    CHECK(kal_prof_phase, "control bytes and what is not UTF-8 are kal_err_invalid",
          kal_prof_phase(NAME("a\nb")) == kal_err_invalid && kal_prof_phase(NAME("\xff")) == kal_err_invalid);
    return summary();
}
