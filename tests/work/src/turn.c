/* turn: gives back what comes in, every bit of it turned over. */
#include <openkal/stream.h>

int main(void)
{
    kal_u8 bytes[8192];
    kal_intptr got;

    while ((got = kal_stream_read(kal_stdin(), bytes, sizeof bytes)) > 0) {
        for (kal_intptr i = 0; i < got; i++)
            bytes[i] = (kal_u8)~bytes[i];
        if (kal_stream_write(kal_stdout(), bytes, (kal_uintptr)got) != got)
            return 1;
    }
    return got == 0 ? 0 : 1;
}
