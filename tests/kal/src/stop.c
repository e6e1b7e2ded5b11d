/* stop [terminal] [again]: says "ready", and "stopping" when it is asked to stop; then ends with status 5, or waits to
 * be asked again. With "terminal" it changes the mode of its standard input after it has begun to listen. */
#include <openkal/process.h>
#include <openkal/task.h>
#include <openkal/terminal.h>
#include <openkal/time.h>

#include "../../e2e/src/text.h"

int main(int argc, char** argv)
{
    const kal_u32* word = kal_process_stop_requested();
    int again = argc > 1 && same(argv[argc - 1], "again");

    if (argc > 1 && same(argv[1], "terminal") && kal_terminal_set_mode(kal_stdin(), 0) != kal_ok)
        return 1;
    say("ready\n");
    while (*word == 0)
        kal_task_wait(word, 0, 0);
    say("stopping\n");
    while (again)
        kal_time_sleep((kal_u64)1000000000 * 1000);
    return 5;
}
