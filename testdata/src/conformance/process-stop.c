/* Whoever runs this asks it to stop when it has written "ready" and a line end on standard error; with no answer for a
 * minute, that is not observed. */
#define INTERFACE "process"
#include "conformance.h"

int main(void)
{
    const kal_u32* const word = kal_process_stop_requested();
    const kal_u64 end = kal_time_monotonic() + 60 * SECOND;

    CHECK(kal_process_stop_requested, "is 0 before anybody asks", word && *(const volatile kal_u32*)word == 0);
    CHECK(kal_process_stop_requested, "is the same word at every call", kal_process_stop_requested() == word);
    kal_stream_write(kal_stderr(), "ready\n", 6);
    while (word && *(const volatile kal_u32*)word == 0 && kal_time_monotonic() < end)
        kal_task_wait(word, 0, SECOND);
    if (word && *(const volatile kal_u32*)word != 0)
        CHECK(kal_process_stop_requested, "is not 0 once it is asked, and the program goes on", 1);
    else
        UNOBSERVED(kal_process_stop_requested, "is not 0 once it is asked, and the program goes on");
    return summary();
}
