/* The smallest useful image: greets everybody it is told to greet, and counts them.
 * okld build examples/hello.c -o hello.ok && okrun --prof=calls:out/ hello.ok world */
#include <openkal/openkal.h>

static kal_u64 greeted;

static int say(const char* text, kal_uintptr length)
{
    return kal_stream_write(kal_stdout(), text, length) < 0;
}

int main(int argc, char** argv)
{
    int failed = 0;

    kal_prof_counter("greeted", 7, &greeted);
    for (int i = 1; i < argc; i++) {
        kal_uintptr length = 0;

        while (argv[i][length])
            length++;
        failed |= say("hello, ", 7) || say(argv[i], length) || say("\n", 1);
        greeted++;
    }
    return failed;
}
