/* openkal.process: being asked to stop. Each case is a process of its own, which the requests end sooner or later. */
#include <openkal/task.h>
#include <pthread.h>

#include "kal_process.h"

static int request_number;

void fault_watch_all(void)
{
}

static const kal_u32 *listen_for(void)
{
    const kal_u32 *word = kal_process_stop_requested();

    CHECK(word != NULL && *word == 0 && kal_process_stop_requested() == word);
    return word;
}

static void *wait_for_request(void *word)
{
    CHECK(kal_task_wait(word, 0, 0) == kal_ok && *(const kal_u32 *)word == 1);
    return NULL;
}

static void be_asked_once(void)
{
    const kal_u32 *word = listen_for();
    pthread_t tasks[2];

    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&tasks[i], NULL, wait_for_request, (void *)(uintptr_t)word) == 0);
    usleep(20000); /* so that one waits already, most times */
    CHECK(kill(getpid(), request_number) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(tasks[i], NULL) == 0);
    CHECK(*word == 1);
    _exit(17);
}

static void be_asked_twice(void)
{
    const kal_u32 *word = listen_for();

    CHECK(raise(SIGTERM) == 0 && *word == 1);
    (void)raise(request_number);
    _exit(1);
}

static void be_asked_where_it_is_ignored(void)
{
    const kal_u32 *word;

    signal(request_number, SIG_IGN);
    word = listen_for();
    CHECK(raise(request_number) == 0 && raise(request_number) == 0 && *word == 0);
}

static void never_ask(void)
{
    (void)raise(request_number);
    _exit(1);
}

static void on_end(int number)
{
    _exit(50 + number);
}

/* What the runner does at a signal that ends the program is what the second request does. */
static void be_asked_twice_with_a_handler(void)
{
    signal(request_number, on_end);
    be_asked_twice();
}

static bool ended_by_request(int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == request_number;
}

int main(void)
{
    static const int requests[] = {SIGTERM, SIGINT, SIGHUP};
    int status;

    for (int i = 0; i < 3; i++) {
        request_number = requests[i];
        CHECK(ended_by_request(in_process(never_ask)));
        status = in_process(be_asked_once);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 17);
        CHECK(ended_by_request(in_process(be_asked_twice)));
        status = in_process(be_asked_twice_with_a_handler);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 50 + request_number);
        CHECK(in_process(be_asked_where_it_is_ignored) == 0);
    }
    return 0;
}
