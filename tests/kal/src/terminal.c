/* terminal: calls every function of openkal.terminal, on streams that are none. Status 0, or a line on standard error
 * that says what is not so.
 *
 * terminal mode NUMBER: sets that mode of standard input and reads once.
 * terminal WAY: turns line editing and the echo off, reads once, and ends so.
 *
 * Each says `ready`, a line, before it reads, and what it has read after it. */
#include "expect.h"

static volatile int* nowhere;

static void what_is_none(void)
{
    const struct kal_stream streams[] = {kal_stdin(), kal_stdout()};
    kal_uintptr mode = 77, cols = 77, rows = 77;

    for (int i = 0; i < 2; i++) {
        EXPECT(kal_terminal_get_mode(streams[i], &mode) == kal_err_not_supported);
        EXPECT(kal_terminal_set_mode(streams[i], 0) == kal_err_not_supported);
        EXPECT(kal_terminal_size(streams[i], &cols, &rows) == kal_err_not_supported);
        EXPECT(kal_terminal_props(streams[i]) == 0);
    }
    for (kal_uintptr word = 0; word < 300; word++) {
        struct kal_stream none = {word};

        EXPECT(kal_terminal_get_mode(none, &mode) == kal_err_invalid);
        EXPECT(kal_terminal_set_mode(none, 0) == kal_err_invalid);
        EXPECT(kal_terminal_size(none, &cols, &rows) == kal_err_invalid && kal_terminal_props(none) == 0);
    }
    EXPECT(kal_terminal_get_mode(kal_stdin(), 0) == kal_err_invalid);
    EXPECT(kal_terminal_set_mode(kal_stdin(), 8) == kal_err_invalid);
    EXPECT(kal_terminal_size(kal_stdin(), 0, &rows) == kal_err_invalid && mode == 77 && cols == 77 && rows == 77);
}

static void set(kal_uintptr mode)
{
    kal_uintptr now;

    EXPECT(kal_terminal_set_mode(kal_stdin(), mode) == kal_ok);
    EXPECT(kal_terminal_get_mode(kal_stdin(), &now) == kal_ok && now == mode);
}

static void set_in_task(void* unused)
{
    (void)unused;
    set(0);
}

static void leave(void* unused)
{
    (void)unused;
    kal_exit(4);
}

static void read_once(void)
{
    char got[64];
    kal_intptr size;

    say(kal_stdout(), "ready\n");
    size = kal_stream_read(kal_stdin(), got, sizeof got);
    EXPECT(size >= 0 && kal_stream_write(kal_stdout(), got, (kal_uintptr)size) == size);
}

static void say_size(void)
{
    kal_uintptr cols, rows;

    EXPECT(kal_terminal_props(kal_stdin()) == (KAL_TERM_PROP_MODE | KAL_TERM_PROP_SIZE));
    EXPECT(kal_terminal_size(kal_stdin(), &cols, &rows) == kal_ok);
    say_number(kal_stdout(), cols);
    say(kal_stdout(), " ");
    say_number(kal_stdout(), rows);
}

/* Another program runs to its end on the same terminal. */
static void run_another(void)
{
    const char* argv[] = {"sh", "-c", "exit 0"};
    const kal_uintptr lengths[] = {2, 2, 6};
    const struct kal_spawn_streams streams = {{0}, {0}, {0}};
    struct kal_spawn how = {.flags = 0};
    struct kal_process process;
    kal_uintptr length;
    int status, terminated;

    EXPECT(kal_fs_preopen(1, &how.base, 0, 0, &length) == kal_ok);
    EXPECT(kal_process_spawn(&how, "bin/sh", 6, argv, lengths, 3, 0, 0, 0, &streams, &process) == kal_ok);
    EXPECT(kal_process_wait(process, &status, &terminated) == kal_ok && status == 0 && !terminated);
    kal_process_close(process);
}

static void end(const char* way)
{
    struct kal_task task;

    if (same(way, "exit", 5))
        kal_exit(4);
    if (same(way, "abort", 6))
        kal_abort("", 0);
    if (same(way, "crash", 6))
        *nowhere = 1;
    if (same(way, "task", 5) && kal_task_start(leave, 0, &task) == kal_ok)
        kal_task_join(task);
}

int main(int argc, char** argv)
{
    struct kal_task task;

    if (argc == 1) {
        what_is_none();
        return 0;
    }
    if (same(argv[1], "size", 5)) {
        say_size();
        return 0;
    }
    if (same(argv[1], "mode", 5)) {
        set(number_of(argv[2]));
    } else if (same(argv[1], "task", 5)) {
        EXPECT(kal_task_start(set_in_task, 0, &task) == kal_ok && kal_task_join(task) == kal_ok);
    } else {
        set(0);
    }
    if (same(argv[1], "start", 6))
        run_another();
    read_once();
    end(argv[1]);
    return 4;
}
