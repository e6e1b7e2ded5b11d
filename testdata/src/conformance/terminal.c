/* Standard input is a terminal of 80 columns and 24 rows, standard output is none. */
#define INTERFACE "terminal"
#include "conformance.h"

static int is_mode(kal_uintptr expected)
{
    kal_uintptr mode = 0;

    return kal_terminal_get_mode(kal_stdin(), &mode) == kal_ok && mode == expected;
}

static void modes(void)
{
    const kal_uintptr all = KAL_TERM_LINE_EDIT | KAL_TERM_ECHO | KAL_TERM_PASS_CONTROL;
    kal_uintptr before = 0;
    int each = 1;

    CHECK(kal_terminal_get_mode, "gives the mode",
          kal_terminal_get_mode(kal_stdin(), &before) == kal_ok && (before & ~all) == 0);
    for (kal_uintptr mode = 0; mode <= all; mode++)
        each &= kal_terminal_set_mode(kal_stdin(), mode) == kal_ok && is_mode(mode);
    CHECK(kal_terminal_set_mode, "sets each of the eight modes", each);
    CHECK(kal_terminal_set_mode, "unknown bits are kal_err_invalid, and nothing is done",
          kal_terminal_set_mode(kal_stdin(), 8) == kal_err_invalid &&
              kal_terminal_set_mode(kal_stdin(), ~(kal_uintptr)0) == kal_err_invalid && is_mode(all));
    CHECK(kal_terminal_set_mode, "the mode that it had",
          kal_terminal_set_mode(kal_stdin(), before) == kal_ok && is_mode(before));
    CHECK(kal_terminal_get_mode, "a null out-pointer is kal_err_invalid",
          kal_terminal_get_mode(kal_stdin(), 0) == kal_err_invalid);
}

static void no_terminals(kal_uintptr closed)
{
    kal_uintptr mode = UNTOUCHED, cols = UNTOUCHED, rows = UNTOUCHED;

    CHECK(kal_terminal_get_mode, "what is no terminal is kal_err_not_supported, and nothing is written",
          kal_terminal_get_mode(kal_stdout(), &mode) == kal_err_not_supported && mode == UNTOUCHED);
    CHECK(kal_terminal_set_mode, "what is no terminal is kal_err_not_supported",
          kal_terminal_set_mode(kal_stdout(), 0) == kal_err_not_supported);
    CHECK(kal_terminal_size, "what is no terminal is kal_err_not_supported, and nothing is written",
          kal_terminal_size(kal_stdout(), &cols, &rows) == kal_err_not_supported && cols == UNTOUCHED &&
              rows == UNTOUCHED);
    CHECK(kal_terminal_props, "what is no terminal has none", kal_terminal_props(kal_stdout()) == 0);
    REFUSES(kal_terminal_get_mode, closed, ~kal_stdin().h,
            kal_terminal_get_mode((struct kal_stream){word}, &mode) == kal_err_invalid && mode == UNTOUCHED);
    REFUSES(kal_terminal_set_mode, closed, ~kal_stdin().h,
            kal_terminal_set_mode((struct kal_stream){word}, 0) == kal_err_invalid);
    REFUSES(kal_terminal_size, closed, ~kal_stdin().h,
            kal_terminal_size((struct kal_stream){word}, &cols, &rows) == kal_err_invalid && cols == UNTOUCHED);
    REFUSES(kal_terminal_props, closed, ~kal_stdin().h, kal_terminal_props((struct kal_stream){word}) == 0);
}

int main(void)
{
    const kal_uintptr props = kal_terminal_props(kal_stdin());
    kal_uintptr cols = UNTOUCHED, rows = UNTOUCHED;
    struct kal_stream mine = {0}, theirs = {0};

    kal_process_channel(&mine, &theirs);
    kal_process_channel_close(mine);
    kal_process_channel_close(theirs);
    CHECK(kal_terminal_props, "unassigned positions are 0", (props & ~(KAL_TERM_PROP_MODE | KAL_TERM_PROP_SIZE)) == 0);
    if (props & KAL_TERM_PROP_MODE)
        modes();
    else
        UNOBSERVED(kal_terminal_set_mode, "sets each of the eight modes");
    if (props & KAL_TERM_PROP_SIZE)
        CHECK(kal_terminal_size, "gives columns and rows",
              kal_terminal_size(kal_stdin(), &cols, &rows) == kal_ok && cols == 80 && rows == 24);
    else
        UNOBSERVED(kal_terminal_size, "gives columns and rows");
    CHECK(kal_terminal_size, "null out-pointers are kal_err_invalid",
          kal_terminal_size(kal_stdin(), 0, &rows) == kal_err_invalid &&
              kal_terminal_size(kal_stdin(), &cols, 0) == kal_err_invalid);
    no_terminals(mine.h);
    return summary();
}
