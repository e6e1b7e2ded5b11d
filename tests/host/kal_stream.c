/* openkal.stream of the native host.                                                       SPEC: KAL-1, KAL-2 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <openkal/stream.h>
#include <pthread.h>
#include <pty.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "interrupt.h"
#include "kal/handle.h"

#define LARGE ((size_t)1 << 20)

/* Put a descriptor in the place of a standard stream. */
static void become(int fd, int standard)
{
    CHECK(dup2(fd, standard) == standard);
    if (fd != standard) /* it is there already where the stream was closed */
        close(fd);
}

static int descriptor_of(kal_uintptr stream)
{
    struct handle *handle = handle_get(HANDLE_STREAM, stream);
    int fd;

    CHECK(handle != NULL);
    fd = handle->fd;
    handle_put(handle);
    return fd;
}

static void handles_are_words_that_were_issued(void)
{
    kal_uintptr in, out = kal_stdout().h, words[3];
    char byte = 'x';

    for (kal_uintptr word = 0; word < 70000; word++)
        CHECK(kal_stream_write((struct kal_stream){word}, &byte, 1) == -kal_err_invalid);
    CHECK(handle_get(HANDLE_STREAM, out ^ UINT64_C(1) << 28) == NULL);
    CHECK(handle_get(HANDLE_STREAM, out | 0xff) == NULL);
    CHECK(handle_get(HANDLE_STREAM, out ^ 0x100) == NULL);
    CHECK(handle_get(HANDLE_STREAM, out | 0xfffff00) == NULL);
    CHECK(handle_get(HANDLE_FILE, out) == NULL);
    CHECK(handle_get(HANDLE_FILE, out ^ HANDLE_STREAM ^ HANDLE_FILE) == NULL);

    in = kal_stdin().h;
    words[0] = in, words[1] = out, words[2] = kal_stderr().h;
    CHECK(words[0] != words[1] && words[1] != words[2] && words[0] != words[2]);
    CHECK(in == kal_stdin().h && out == kal_stdout().h && words[2] == kal_stderr().h);
    for (int fd = 0; fd < 3; fd++) {
        CHECK(words[fd] != 0 && words[fd] > UINT32_MAX);
        CHECK(descriptor_of(words[fd]) == fd);
    }
    CHECK(kal_stream_read((struct kal_stream){1}, &byte, 1) == -kal_err_invalid);
    CHECK(kal_stream_flush((struct kal_stream){1}) == kal_err_invalid);
    CHECK(kal_stream_props((struct kal_stream){1}) == 0);
    CHECK(kal_stream_flush(kal_stdout()) == kal_ok);
}

static void buffers_that_cannot_be_are_refused(void)
{
    int ends[2], before = dup(STDIN_FILENO);
    void *volatile nowhere = (void *)16;
    char byte;

    CHECK(kal_stream_write(kal_stdout(), NULL, 1) == -kal_err_invalid);
    CHECK(kal_stream_write(kal_stdout(), NULL, 0) == 0);
    CHECK(kal_stream_write(kal_stdout(), &byte, (kal_uintptr)-1) == -kal_err_invalid);
    CHECK(kal_stream_read(kal_stdin(), NULL, 1) == -kal_err_invalid);
    CHECK(kal_stream_read(kal_stdin(), NULL, 0) == 0);
    CHECK(kal_stream_read(kal_stdin(), &byte, (kal_uintptr)PTRDIFF_MAX + 1) == -kal_err_invalid);

    CHECK(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
    become(ends[0], STDIN_FILENO);
    CHECK(kal_stream_read(kal_stdin(), nowhere, 1) == -kal_err_invalid);
    become(before, STDIN_FILENO);
    close(ends[1]);
}

struct transfer {
    int fd;
    size_t bytes, sum, pause_at;
};

/* Read slowly to the end. */
static void *drain(void *argument)
{
    struct transfer *t = argument;
    unsigned char part[4096];
    ssize_t n;

    while ((n = read(t->fd, part, sizeof part)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        CHECK(n > 0);
        for (ssize_t i = 0; i < n; i++)
            t->sum += part[i];
        t->bytes += (size_t)n;
        if (t->pause_at && t->bytes >= t->pause_at) {
            nanosleep(&(struct timespec){0, 20000000}, NULL);
            t->pause_at = 0;
        }
    }
    close(t->fd);
    return NULL;
}

/* A pipe holds 64 KiB: the write waits again and again, and is interrupted while it does; with O_NONBLOCK it is told to
 * come again each time. */
static void a_write_moves_everything(int flags)
{
    static unsigned char bytes[LARGE];
    struct transfer t = {.pause_at = 4096};
    int ends[2], before = dup(STDOUT_FILENO);
    size_t sum = 0;
    pthread_t reader;

    for (size_t i = 0; i < LARGE; i++)
        sum += bytes[i] = (unsigned char)(i * 7 + i / 251);
    CHECK(pipe(ends) == 0 && fcntl(ends[1], F_SETFL, flags) == 0);
    t.fd = ends[0];
    become(ends[1], STDOUT_FILENO);
    CHECK(pthread_create(&reader, NULL, drain, &t) == 0);
    interrupt(true);
    CHECK(kal_stream_write(kal_stdout(), bytes, LARGE) == (kal_intptr)LARGE);
    interrupt(false);
    become(before, STDOUT_FILENO);
    CHECK(pthread_join(reader, NULL) == 0);
    CHECK(t.bytes == LARGE && t.sum == sum);
}

static void *write_late(void *argument)
{
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    CHECK(write(*(int *)argument, "late", 4) == 4);
    return NULL;
}

static void a_read_is_short_and_ends(void)
{
    int ends[2], before = dup(STDIN_FILENO);
    pthread_t writer;
    char got[16];

    CHECK(pipe(ends) == 0);
    become(ends[0], STDIN_FILENO);
    CHECK(pthread_create(&writer, NULL, write_late, &ends[1]) == 0);
    interrupt(true);
    CHECK(kal_stream_read(kal_stdin(), got, sizeof got) == 4 && memcmp(got, "late", 4) == 0);
    interrupt(false);
    CHECK(pthread_join(writer, NULL) == 0);
    close(ends[1]);
    CHECK(kal_stream_read(kal_stdin(), got, sizeof got) == 0);
    become(before, STDIN_FILENO);
}

static void conditions_are_errors(void)
{
    int ends[2], before = dup(STDOUT_FILENO), input = dup(STDIN_FILENO);
    static char bytes[LARGE];
    char byte = 'x';

    signal(SIGPIPE, SIG_IGN);
    CHECK(pipe(ends) == 0 && close(ends[0]) == 0); /* nobody reads */
    become(ends[1], STDOUT_FILENO);
    CHECK(kal_stream_write(kal_stdout(), &byte, 1) == -kal_err_closed);

    close(STDOUT_FILENO);
    CHECK(kal_stream_write(kal_stdout(), &byte, 1) == -kal_err_closed);
    CHECK(kal_stream_props(kal_stdout()) == 0);
    close(STDIN_FILENO);
    CHECK(kal_stream_read(kal_stdin(), &byte, 1) == -kal_err_closed);

    become(open("/dev/full", O_WRONLY), STDOUT_FILENO);
    CHECK(kal_stream_write(kal_stdout(), &byte, 1) == -kal_err_no_space);

    CHECK(pipe2(ends, O_NONBLOCK) == 0);
    become(ends[0], STDIN_FILENO);
    CHECK(kal_stream_read(kal_stdin(), &byte, 1) == -kal_err_again);
    while (write(ends[1], bytes, sizeof bytes) > 0)
        ;
    become(ends[1], STDOUT_FILENO);
    CHECK(kal_stream_write(kal_stdout(), &byte, 1) == -kal_err_again);
    become(before, STDOUT_FILENO);
    become(input, STDIN_FILENO);
    signal(SIGPIPE, SIG_DFL);
}

/* What was moved before a condition is the answer; the condition is the next one's. */
static void a_part_that_was_moved_is_a_count(void)
{
    static const char bytes[10000];
    const struct rlimit limit = {6000, RLIM_INFINITY};
    int before = dup(STDOUT_FILENO);

    signal(SIGXFSZ, SIG_IGN);
    become(memfd_create("out", 0), STDOUT_FILENO);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(kal_stream_write(kal_stdout(), bytes, sizeof bytes) == 6000);
    CHECK(kal_stream_write(kal_stdout(), bytes, sizeof bytes) == -kal_err_no_space);
    CHECK(lseek(STDOUT_FILENO, 0, SEEK_CUR) == 6000);
    CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}) == 0);
    become(before, STDOUT_FILENO);
}

static void a_terminal_is_interactive(void)
{
    int ours, theirs, before = dup(STDOUT_FILENO);

    CHECK(openpty(&ours, &theirs, NULL, NULL, NULL) == 0);
    become(theirs, STDOUT_FILENO);
    CHECK(kal_stream_props(kal_stdout()) == KAL_STREAM_PROP_INTERACTIVE);
    become(before, STDOUT_FILENO);
    close(ours);
}

int main(void)
{
    handles_are_words_that_were_issued();
    buffers_that_cannot_be_are_refused();
    a_write_moves_everything(0);
    a_write_moves_everything(O_NONBLOCK);
    a_read_is_short_and_ends();
    conditions_are_errors();
    a_part_that_was_moved_is_a_count();
    a_terminal_is_interactive();
    return 0;
}
