/* What hosts have done wrong: each case is named by the first argument, and ends with 0 where all is well.
 * `exchanged` starts a/x.ok of the directory that it is given, and has another directory take the place of a before the
 * runner has opened it; its status is that of what ran. */
#include <openkal/openkal.h>

#define TEXT(text) text, sizeof(text) - 1
#define SECOND 1000000000u

static _Alignas(16) char stack[65536];
static struct kal_datagram datagram;
static kal_intptr received = 1;

static void nothing(void *unused)
{
    (void)unused;
}

static void join_in_a_copy(void *unused)
{
    struct kal_task task;

    (void)unused;
    kal_exit(kal_task_start(nothing, 0, &task) == kal_ok && kal_task_join(task) == kal_ok ? 0 : 1);
}

static void copy(void *result)
{
    struct kal_process process;
    int *status = result, ended;

    if (kal_space_start(join_in_a_copy, 0, stack + sizeof stack, &process) != kal_ok ||
        kal_process_wait(process, status, &ended) != kal_ok || ended)
        *status = 2;
}

static int copied(void)
{
    struct kal_task task;
    int status = 3;

    if (kal_task_start(copy, &status, &task) != kal_ok || kal_task_join(task) != kal_ok)
        return 4;
    return status;
}

static void receive(void *unused)
{
    char byte;

    (void)unused;
    received = kal_timeout_recv_from(datagram, &byte, 1, 0, 60ull * SECOND);
}

static int closed(void)
{
    struct kal_endpoint local = {{127, 0, 0, 1}, 4, 0};
    struct kal_task task;

    if (kal_datagram_open(&local, &datagram) != kal_ok || kal_task_start(receive, 0, &task) != kal_ok)
        return 1;
    kal_time_sleep(SECOND / 5);
    kal_datagram_close(datagram);
    return kal_task_join(task) == kal_ok && received == -kal_err_closed ? 0 : 2;
}

static int exchanged(void)
{
    const char *name = "x";
    kal_uintptr length = 1, size;
    struct kal_dir given;
    struct kal_spawn how = {{0}, {0}, 0, 0, 0, 0};
    struct kal_spawn_streams streams = {{0}, {0}, {0}};
    struct kal_process process;
    int status = 0, ended;

    if (kal_fs_preopen(0, &given, 0, 0, &size) != kal_ok)
        return 101;
    how.base = given;
    if (kal_process_spawn(&how, TEXT("a/x.ok"), &name, &length, 1, 0, 0, 0, &streams, &process) != kal_ok ||
        kal_fs_rename(given, TEXT("a"), given, TEXT("b")) != kal_ok ||
        kal_fs_rename(given, TEXT("other"), given, TEXT("a")) != kal_ok ||
        kal_process_wait(process, &status, &ended) != kal_ok || ended)
        return 102;
    return status;
}

int main(int argc, char **argv)
{
    return argc < 2 ? 99 : argv[1][0] == 'j' ? copied() : argv[1][0] == 'c' ? closed() : exchanged();
}
