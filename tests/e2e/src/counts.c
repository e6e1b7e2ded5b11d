/* Calls a known number of functions a known number of times; no start code, so that nothing else is called. */
#include <openkal/openkal.h>

static kal_u64 first, second;

int _start(void)
{
    struct kal_stream out = kal_stdout();

    kal_prof_counter("cells", 5, &first);
    kal_prof_counter("cells", 5, &second);
    kal_prof_counter("alone", 5, &second);
    kal_prof_phase("allocate", 8);
    for (int i = 0; i < 1000; i++) {
        void* p = kal_alloc(64, 8);

        if (p)
            first++;
        kal_free(p, 64, 8);
    }
    kal_prof_phase("write", 5);
    for (int i = 0; i < 3; i++)
        kal_stream_write(out, "line\n", 5);
    second = 40;
    kal_prof_phase("", 0);
    kal_version();
    kal_exit(5);
}
