#define INTERFACE "debug"
#include "conformance.h"

__attribute__((noinline, visibility("default"))) int a_function_with_a_name(int x);
int a_function_with_a_name(int x)
{
    return x + 1;
}

int main(void)
{
    const char* const at = (const char*)(kal_uintptr)a_function_with_a_name;
    kal_uintptr offset = UNTOUCHED;
    char room[8], local;

    CHECK(kal_debug_props, "unassigned positions are 0", (kal_debug_props() & ~KAL_DEBUG_PROP_SYMBOLS) == 0);
    CHECK(kal_debug_props, "is the same at every call", kal_debug_props() == kal_debug_props());
    CHECK(kal_debug_symbolize, "what is no address of the image is kal_err_not_found, and nothing is written",
          kal_debug_symbolize(0, room, 8, &offset) == -kal_err_not_found &&
              kal_debug_symbolize(&local, room, 8, &offset) == -kal_err_not_found && offset == UNTOUCHED);
    CHECK(kal_debug_symbolize, "a null buffer with a capacity is kal_err_invalid",
          kal_debug_symbolize(at, 0, 8, &offset) == -kal_err_invalid);
    if ((kal_debug_props() & KAL_DEBUG_PROP_SYMBOLS) == 0) {
        UNOBSERVED(kal_debug_symbolize, "the offset is from the symbol's start");
        return summary();
    }
    GIVES_TEXT(kal_debug_symbolize, "a_function_with_a_name", kal_debug_symbolize(at, out, cap, &offset));
    CHECK(kal_debug_symbolize, "the offset is from the symbol's start",
          offset == 0 && kal_debug_symbolize(at + 1, 0, 0, &offset) == 22 && offset == 1);
    CHECK(kal_debug_symbolize, "the offset may be null", kal_debug_symbolize(at, 0, 0, 0) == 22);
    return summary();
}
