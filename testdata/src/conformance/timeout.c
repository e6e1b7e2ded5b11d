#define INTERFACE "timeout"
#include "loopback.h"

#include "place.h"

#define SHORT (30 * MILLISECOND)

static char large[1 << 20];
static kal_u64 stack[8192] __attribute__((aligned(16)));

static void sleeps(void* argument)
{
    (void)argument;
    kal_time_sleep(30 * SECOND);
}

static void answers(void* argument)
{
    kal_time_sleep(SHORT);
    kal_stream_write(*(struct kal_stream*)argument, "late", 4);
}

/* Whether the call says that its time has passed, and not before. */
#define EXPIRES(again, ...)                                                                                            \
    (before = kal_time_monotonic(), (__VA_ARGS__) == (again) && kal_time_monotonic() - before >= SHORT)

static void streams(struct kal_stream gone, kal_uintptr another)
{
    struct kal_stream a, b;
    struct kal_task task;
    kal_u64 before;
    char room[8];

    kal_process_channel(&a, &b);
    CHECK(kal_timeout_read, "nothing comes: kal_err_again, and not before",
          EXPIRES(-kal_err_again, kal_timeout_read(a, room, 8, SHORT)));
    kal_stream_write(b, "here", 4);
    CHECK(kal_timeout_read, "what is there is read", kal_timeout_read(a, room, 8, 1) == 4 && same(room, "here", 4));
    kal_task_start(answers, &b, &task);
    CHECK(kal_timeout_read, "0 is no bound", kal_timeout_read(a, room, 8, 0) == 4);
    kal_task_join(task);
    kal_task_start(answers, &b, &task);
    CHECK(kal_timeout_read, "what comes in time is read", kal_timeout_read(a, room, 8, 60 * SECOND) == 4);
    kal_task_join(task);
    kal_task_start(answers, &b, &task);
    CHECK(kal_timeout_read, "what is past the end of the clock is no bound",
          kal_timeout_read(a, room, 8, ~(kal_u64)0) == 4);
    kal_task_join(task);
    CHECK(kal_timeout_read, "a length of 0 is 0",
          kal_timeout_read(a, room, 0, 1) == 0 && kal_timeout_read(a, 0, 0, 1) == 0);
    CHECK(kal_timeout_read, "null with a length and too long are kal_err_invalid",
          kal_timeout_read(a, 0, 1, 1) == -kal_err_invalid &&
              kal_timeout_read(a, room, TOO_LONG, 1) == -kal_err_invalid);
    REFUSES(kal_timeout_read, gone.h, another,
            kal_timeout_read((struct kal_stream){word}, room, 8, 1) == -kal_err_invalid);
    CHECK(kal_timeout_write, "moves what there is room for",
          kal_timeout_write(a, "here", 4, 1) == 4 && kal_timeout_read(b, room, 8, 1) == 4);
    {
        const kal_intptr n = kal_timeout_write(a, large, sizeof large, SHORT);

        CHECK(kal_timeout_write, "tells how much moved when the time passed", n > 0 && n < (kal_intptr)sizeof large);
    }
    CHECK(kal_timeout_write, "no room: kal_err_again, and not before",
          EXPIRES(-kal_err_again, kal_timeout_write(a, large, sizeof large, SHORT)));
    CHECK(kal_timeout_write, "a length of 0 is 0",
          kal_timeout_write(a, room, 0, 1) == 0 && kal_timeout_write(a, 0, 0, 1) == 0);
    CHECK(kal_timeout_write, "null with a length and too long are kal_err_invalid",
          kal_timeout_write(a, 0, 1, 1) == -kal_err_invalid &&
              kal_timeout_write(a, room, TOO_LONG, 1) == -kal_err_invalid);
    REFUSES(kal_timeout_write, gone.h, another,
            kal_timeout_write((struct kal_stream){word}, "x", 1, 1) == -kal_err_invalid);
    kal_process_channel_close(b);
    CHECK(kal_timeout_write, "what nobody can read any more is kal_err_closed",
          kal_timeout_write(a, "x", 1, SECOND) == -kal_err_closed);
    kal_process_channel_close(a);
}

static void net(kal_uintptr another)
{
    struct kal_endpoint at = v4(0);
    struct kal_net_listener listener = {0}, closed = {0};
    struct kal_net_conn a = {0}, b = {UNTOUCHED};
    kal_u64 before;

    kal_net_listen(&at, &closed);
    kal_net_close_listener(closed);
    kal_net_listen(&at, &listener);
    kal_net_listener_local(listener, &at);
    CHECK(kal_timeout_accept, "nobody comes: kal_err_again, not before, and nothing is written",
          EXPIRES(kal_err_again, kal_timeout_accept(listener, SHORT, &b)) && b.h == UNTOUCHED);
    kal_net_connect(&at, &a);
    CHECK(kal_timeout_accept, "who came is accepted",
          kal_timeout_accept(listener, 60 * SECOND, &b) == kal_ok && b.h != UNTOUCHED);
    kal_net_close(a);
    kal_net_close(b);
    kal_net_connect(&at, &a);
    CHECK(kal_timeout_accept, "0 is no bound", kal_timeout_accept(listener, 0, &b) == kal_ok);
    CHECK(kal_timeout_accept, "a null out-pointer is kal_err_invalid",
          kal_timeout_accept(listener, 1, 0) == kal_err_invalid);
    REFUSES(kal_timeout_accept, closed.h, another,
            kal_timeout_accept((struct kal_net_listener){word}, 1, &b) == kal_err_invalid);
    kal_net_close(a);
    kal_net_close(b);
    kal_net_close_listener(listener);
}

static void datagrams(kal_uintptr another)
{
    struct kal_endpoint at = v4(0), from = {.port = UNTOUCHED};
    struct kal_datagram a = {0}, closed = {0};
    kal_u64 before;
    char room[8];

    kal_datagram_open(&at, &closed);
    kal_datagram_close(closed);
    kal_datagram_open(&at, &a);
    kal_datagram_local(a, &at);
    CHECK(kal_timeout_recv_from, "nothing comes: kal_err_again, not before, and nothing is written",
          EXPIRES(-kal_err_again, kal_timeout_recv_from(a, room, 8, &from, SHORT)) && from.port == UNTOUCHED);
    kal_datagram_send_to(a, "it", 2, &at);
    CHECK(kal_timeout_recv_from, "what came is received",
          kal_timeout_recv_from(a, room, 8, &from, 60 * SECOND) == 2 && from.port == at.port);
    kal_datagram_send_to(a, "it", 2, &at);
    CHECK(kal_timeout_recv_from, "0 is no bound; whence may be null", kal_timeout_recv_from(a, room, 8, 0, 0) == 2);
    CHECK(kal_timeout_recv_from, "null with a length and too long are kal_err_invalid",
          kal_timeout_recv_from(a, 0, 1, 0, 1) == -kal_err_invalid &&
              kal_timeout_recv_from(a, room, TOO_LONG, 0, 1) == -kal_err_invalid);
    REFUSES(kal_timeout_recv_from, closed.h, another,
            kal_timeout_recv_from((struct kal_datagram){word}, room, 8, &from, 1) == -kal_err_invalid);
    kal_datagram_close(a);
}

static void processes(kal_uintptr another)
{
    struct kal_process process = {0};
    int status = -7, terminated = -7;
    kal_u64 before;

    kal_space_start(sleeps, 0, stack + 8192, &process);
    CHECK(kal_timeout_wait_process, "it runs on: kal_err_again, not before, and nothing is written",
          EXPIRES(kal_err_again, kal_timeout_wait_process(process, SHORT, &status, &terminated)) && status == -7 &&
              terminated == -7);
    CHECK(kal_timeout_wait_process, "a handle that is not waited for stays", kal_process_terminate(process) == kal_ok);
    kal_process_terminate(process);
    CHECK(kal_timeout_wait_process, "tells its end",
          kal_timeout_wait_process(process, 60 * SECOND, &status, &terminated) == kal_ok && terminated == 1);
    CHECK(kal_timeout_wait_process, "0 is no bound",
          kal_timeout_wait_process(process, 0, &status, &terminated) == kal_ok);
    kal_process_close(process);
    REFUSES(kal_timeout_wait_process, process.h, another,
            kal_timeout_wait_process((struct kal_process){word}, 1, &status, &terminated) == kal_err_invalid);
}

int main(void)
{
    struct kal_dir here = place();
    struct kal_file file = made(here, "file", "text");
    const struct kal_stream gone = kal_fs_stream(file);

    kal_fs_close_file(file);
    CHECK(kal_timeout_granularity, "is above 0 and at most a second",
          kal_timeout_granularity() > 0 && kal_timeout_granularity() <= SECOND);
    streams(gone, here.h);
    net(here.h);
    datagrams(here.h);
    processes(here.h);
    return summary();
}
