/* Arguments: the image's name, "", "two words", a byte 0xff. Variables, among others: CONFORMANCE=a value, EMPTY=. */
#define INTERFACE "env"
#include "conformance.h"

#define NAME(text) (text), size_of(text)

static int is_argument(kal_uintptr index, const char* expected)
{
    char room[64];

    return kal_env_arg(index, room, sizeof room) == (kal_intptr)size_of(expected) &&
           same(room, expected, size_of(expected));
}

static void arguments(int argc, char** argv)
{
    CHECK(kal_env_arg_count, "counts the program's own name", kal_env_arg_count() == 5);
    CHECK(kal_env_arg_count, "is what main was told", argc == 5 && is_argument(3, argv[3]));
    CHECK(kal_env_arg, "0 is the program's own name", kal_env_arg(0, 0, 0) > 0);
    CHECK(kal_env_arg, "an empty one is kept", is_argument(2, ""));
    CHECK(kal_env_arg, "gives any byte", is_argument(4, "\xff"));
    GIVES_TEXT(kal_env_arg, "two words", kal_env_arg(3, out, cap));
    CHECK(kal_env_arg, "a missing one is kal_err_not_found",
          kal_env_arg(5, 0, 0) == -kal_err_not_found && kal_env_arg(~(kal_uintptr)0, 0, 0) == -kal_err_not_found);
    CHECK(kal_env_arg, "a null buffer with a capacity is kal_err_invalid", kal_env_arg(3, 0, 5) == -kal_err_invalid);
}

static void variables(void)
{
    char room[16];

    GIVES_TEXT(kal_env_var, "a value", kal_env_var(NAME("CONFORMANCE"), out, cap));
    CHECK(kal_env_var, "an empty value is a value", kal_env_var(NAME("EMPTY"), room, sizeof room) == 0);
    CHECK(kal_env_var, "a missing one is kal_err_not_found", kal_env_var(NAME("ABSENT"), 0, 0) == -kal_err_not_found);
    CHECK(kal_env_var, "a name is not taken by its beginning",
          kal_env_var(NAME("CONFORM"), 0, 0) == -kal_err_not_found &&
              kal_env_var(NAME("CONFORMANCE2"), 0, 0) == -kal_err_not_found);
    CHECK(kal_env_var, "a name is as long as it is said to be", kal_env_var("EMPTYmore", 5, 0, 0) == 0);
    CHECK(kal_env_var, "an empty name and one with = are none",
          kal_env_var("", 0, 0, 0) == -kal_err_not_found &&
              kal_env_var(NAME("CONFORMANCE=a"), 0, 0) == -kal_err_not_found);
    CHECK(kal_env_var, "a null name is kal_err_invalid",
          kal_env_var(0, 3, 0, 0) == -kal_err_invalid && kal_env_var(0, 0, 0, 0) == -kal_err_invalid);
    CHECK(kal_env_var, "a null buffer with a capacity is kal_err_invalid",
          kal_env_var(NAME("CONFORMANCE"), 0, 5) == -kal_err_invalid);
}

static void positions(void)
{
    const kal_uintptr count = kal_env_var_count();
    kal_uintptr at = count;
    int all = 1;
    char name[256];

    for (kal_uintptr i = 0; i < count; i++) {
        const kal_intptr n = kal_env_var_at(i, name, sizeof name);

        all &= n > 0 && n < 256 && kal_env_var(name, (kal_uintptr)n, 0, 0) >= 0;
        if (n == 11 && same(name, "CONFORMANCE", 11))
            at = i;
    }
    CHECK(kal_env_var_count, "counts the variables", count >= 2);
    CHECK(kal_env_var_at, "every name has a value", all);
    CHECK(kal_env_var_at, "every variable has a position", at < count);
    GIVES_TEXT(kal_env_var_at, "CONFORMANCE", kal_env_var_at(at, out, cap));
    CHECK(kal_env_var_at, "past the last is kal_err_not_found",
          kal_env_var_at(count, 0, 0) == -kal_err_not_found &&
              kal_env_var_at(~(kal_uintptr)0, 0, 0) == -kal_err_not_found);
    CHECK(kal_env_var_at, "a null buffer with a capacity is kal_err_invalid",
          kal_env_var_at(at, 0, 5) == -kal_err_invalid);
}

int main(int argc, char** argv)
{
    arguments(argc, argv);
    variables();
    positions();
    return summary();
}
