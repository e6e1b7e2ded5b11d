/* start [-e VARIABLE] [-g DIRECTORY=NAME] [-w DIRECTORY] [-n NAME] [-s STREAMS] [-l SIZE] PATH [ARGUMENT...]
 *
 * Starts a program with that environment, those directories, working directory and name of its own; STREAMS are three
 * digits, which of this program's each of its streams is; SIZE is that of a further variable. Says at the end on
 * standard error how it ended: "error N" or "ended STATUS", or "ended by SIGNAL". */
#include "start.h"

static struct kal_preopen grants[MOST];
static struct kal_spawn how;
static struct kal_spawn_streams streams;
static struct texts argv_of_it, envp_of_it;

static kal_uintptr number(const char* text)
{
    kal_uintptr value = 0;

    for (; *text; text++)
        value = value * 10 + (kal_uintptr)(*text - '0');
    return value;
}

/* Add a variable of so many bytes. */
static void add_long(kal_uintptr size)
{
    static char text[200000];

    __builtin_memset(text, 'x', sizeof text);
    add(&envp_of_it, "");
    envp_of_it.at[envp_of_it.count - 1] = text;
    envp_of_it.lengths[envp_of_it.count - 1] = size;
}

static void grant(char* word)
{
    struct kal_preopen* one = &grants[how.grant_count++];

    for (one->name = word; *one->name != '='; one->name++)
        ;
    *(char*)(kal_uintptr)one->name++ = 0;
    one->len = size_of(one->name);
    one->dir = directory_at(word);
}

static struct kal_stream stream(char digit)
{
    return digit == '0' ? kal_stdin() : digit == '1' ? kal_stdout() : kal_stderr();
}

static void report(const char* what, kal_u64 number)
{
    struct kal_stream err = kal_stderr();
    char digits[20];
    kal_uintptr at = sizeof digits;

    digits[--at] = '\n';
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    kal_stream_write(err, what, size_of(what));
    kal_stream_write(err, digits + at, sizeof digits - at);
}

int main(int argc, char** argv)
{
    const char* name = 0;
    struct kal_process process;
    int at = 1, error, status;

    how.base = directory(1);
    how.grants = grants;
    for (; at < argc && argv[at][0] == '-'; at += 2) {
        char* value = argv[at + 1];

        switch (argv[at][1]) {
        case 'e':
            add(&envp_of_it, value);
            break;
        case 'g':
            grant(value);
            break;
        case 'w':
            how.work = directory_at(value);
            break;
        case 'n':
            name = value;
            break;
        case 'l':
            add_long(number(value));
            break;
        case 's':
            streams = (struct kal_spawn_streams){stream(value[0]), stream(value[1]), stream(value[2])};
        }
    }
    add(&argv_of_it, name ? name : argv[at]);
    for (int i = at + 1; i < argc; i++)
        add(&argv_of_it, argv[i]);
    error = start(&how, argv[at], &argv_of_it, &envp_of_it, &streams, &process);
    if (error != kal_ok) {
        report("error ", (kal_u64)error);
        return 0;
    }
    status = end_of(process);
    report(status < 1000 ? "ended " : "ended by ", (kal_u64)(status % 1000));
    return 0;
}
