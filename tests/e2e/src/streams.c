/* Uses each standard stream once. The status has 1, 2 and 4 for a read, a write and a write of an error that failed with
 * kal_err_closed, and 8 for a failure with anything else. */
#include "text.h"

static int bit(kal_intptr result, int closed)
{
    if (result >= 0)
        return 0;
    return result == -kal_err_closed ? closed : 8;
}

int main(void)
{
    char byte;

    return bit(kal_stream_read(kal_stdin(), &byte, 1), 1) | bit(kal_stream_write(kal_stdout(), "out\n", 4), 2) |
           bit(kal_stream_write(kal_stderr(), "err\n", 4), 4);
}
