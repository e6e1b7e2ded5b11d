/* What both programs of the bench "surface" are: loops by name. `PROGRAM NAME CALLS BATCHES` runs one of them BATCHES
 * times, CALLS calls each, and says of each batch how many picoseconds a call took, a line. */
#ifndef SURFACE_H
#define SURFACE_H

typedef unsigned long long count;

enum { PAGE = 4096, MOST_DIGITS = 20 };

struct loop {
    const char *name;
    void (*prepare)(void); /* or null */
    void (*run)(count calls);
};

static int is_name(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static count number(const char *text)
{
    count value = 0;

    while (*text >= '0' && *text <= '9')
        value = value * 10 + (count)(*text++ - '0');
    return value;
}

/* Each program's own: nanoseconds, a line to standard output, and the end of the program for what must not be. */
static count now(void);
static void say(const char *line, count size);
static void need(int fact);

static void say_number(count value)
{
    char line[MOST_DIGITS + 1];
    count at = sizeof line;

    line[--at] = '\n';
    do
        line[--at] = (char)('0' + value % 10);
    while (value /= 10);
    say(line + at, sizeof line - at);
}

static int measure(const struct loop *loop, int argc, char **argv)
{
    count calls, batches;

    need(argc == 4);
    while (!is_name(loop->name, argv[1]))
        loop++;
    calls = number(argv[2]);
    batches = number(argv[3]);
    if (loop->prepare)
        loop->prepare();
    loop->run(1);
    while (batches-- > 0) {
        count begin = now();

        loop->run(calls);
        say_number((now() - begin) * 1000 / calls);
    }
    return 0;
}

#endif
