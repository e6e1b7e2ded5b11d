/* Handles of the native host.                                                                    SPEC: KAL-1 */
#define _GNU_SOURCE
#include "kal/handle.h"

#include <fcntl.h>
#include <openkal/stream.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#define MANY 5000

static int ended;

static void end(struct handle *handle)
{
    CHECK(handle->state == &ended);
    ended++;
}

static bool is_open(enum handle_kind kind, kal_uintptr word)
{
    struct handle *handle = handle_get(kind, word);

    if (handle)
        handle_put(handle);
    return handle != NULL;
}

static void a_word_is_of_its_kind_and_ends_with_its_close(void)
{
    kal_uintptr word = handle_new(HANDLE_JOB, -1, &ended, end);

    CHECK(word > UINT32_MAX && is_open(HANDLE_JOB, word));
    CHECK(!is_open(HANDLE_DIR, word) && !is_open(HANDLE_STREAM, word));
    CHECK(!is_open(HANDLE_DIR, (word & ~(kal_uintptr)0xff) | HANDLE_DIR));
    CHECK(!is_open(HANDLE_STREAM, handle_stream(word).h)); /* nothing can be borrowed from a job */
    CHECK(handle_close(HANDLE_DIR, word) == kal_err_invalid && is_open(HANDLE_JOB, word));
    CHECK(handle_close(HANDLE_JOB, word) == kal_ok && ended == 1);
    CHECK(!is_open(HANDLE_JOB, word) && handle_close(HANDLE_JOB, word) == kal_err_invalid && ended == 1);
}

static void a_slot_is_used_again_under_another_word(void)
{
    kal_uintptr first = handle_new(HANDLE_JOB, -1, NULL, NULL), second;

    CHECK(handle_close(HANDLE_JOB, first) == kal_ok);
    second = handle_new(HANDLE_JOB, -1, NULL, NULL);
    CHECK((second >> 8 & 0xfffff) == (first >> 8 & 0xfffff) && second != first);
    CHECK(!is_open(HANDLE_JOB, first) && is_open(HANDLE_JOB, second));
    CHECK(handle_close(HANDLE_JOB, second) == kal_ok);
}

static void a_stream_is_borrowed_from_its_file(void)
{
    int ends[2];
    kal_uintptr file;
    struct kal_stream stream;
    char byte = 'x';

    CHECK(pipe(ends) == 0);
    file = handle_new(HANDLE_FILE, ends[1], NULL, NULL);
    stream = handle_stream(file);
    CHECK(kal_stream_write(stream, &byte, 1) == 1);
    CHECK(handle_close(HANDLE_STREAM, stream.h) == kal_err_invalid); /* its owner closes it */
    CHECK(handle_close(HANDLE_FILE, file) == kal_ok);
    CHECK(kal_stream_write(stream, &byte, 1) == -kal_err_invalid);
    CHECK(fcntl(ends[1], F_GETFD) == -1);
    CHECK(read(ends[0], &byte, 1) == 1 && read(ends[0], &byte, 1) == 0);
    close(ends[0]);
}

static void a_use_outlives_a_close(void)
{
    kal_uintptr word;
    struct handle *handle;

    ended = 0;
    word = handle_new(HANDLE_JOB, -1, &ended, end);
    handle = handle_get(HANDLE_JOB, word);
    CHECK(handle_close(HANDLE_JOB, word) == kal_ok && ended == 0 && !is_open(HANDLE_JOB, word));
    handle_put(handle);
    CHECK(ended == 1);
}

static void there_can_be_many(void)
{
    static kal_uintptr words[MANY];

    for (int i = 0; i < MANY; i++)
        CHECK((words[i] = handle_new(HANDLE_TASK, -1, NULL, NULL)) != 0);
    for (int i = 0; i < MANY; i++)
        CHECK(is_open(HANDLE_TASK, words[i]) && handle_close(HANDLE_TASK, words[i]) == kal_ok);
}

static kal_uintptr shared;
static int closed;

static void *use_and_close(void *unused)
{
    (void)unused;
    for (int i = 0; i < MANY; i++) {
        kal_uintptr word = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);

        (void)is_open(HANDLE_JOB, word);
        if (handle_close(HANDLE_JOB, word) == kal_ok) {
            __atomic_add_fetch(&closed, 1, __ATOMIC_RELAXED);
            __atomic_store_n(&shared, handle_new(HANDLE_JOB, -1, NULL, NULL), __ATOMIC_RELEASE);
        }
    }
    return NULL;
}

/* However many close at once, one does. */
static void a_word_is_closed_once(void)
{
    pthread_t threads[4];

    shared = handle_new(HANDLE_JOB, -1, NULL, NULL);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, use_and_close, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(closed > 0 && is_open(HANDLE_JOB, shared) && handle_close(HANDLE_JOB, shared) == kal_ok);
}

int main(void)
{
    a_word_is_of_its_kind_and_ends_with_its_close();
    a_slot_is_used_again_under_another_word();
    a_stream_is_borrowed_from_its_file();
    a_use_outlives_a_close();
    there_can_be_many();
    a_word_is_closed_once();
    return 0;
}
