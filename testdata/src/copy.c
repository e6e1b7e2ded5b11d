/* copy: standard input to standard output, by 64 KiB. Status 0; 64 plus the kal_error of a read that failed; the
 * kal_error of a write that failed. It has no note: its imports declare openkal.stream. */

#include <openkal/stream.h>

int _start(void);

static char buffer[65536];

int _start(void)
{
    for (;;) {
        kal_intptr size = kal_stream_read(kal_stdin(), buffer, sizeof buffer);
        kal_intptr written;

        if (size == 0)
            return 0;
        if (size < 0)
            return 64 + (int)-size;
        written = kal_stream_write(kal_stdout(), buffer, (kal_uintptr)size);
        if (written < 0)
            return (int)-written;
    }
}
