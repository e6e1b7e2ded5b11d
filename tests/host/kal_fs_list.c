/* Lists of openkal.fs: what is in a directory.                                                     SPEC: FS-8 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>

#include "kal_fs.h"

#define MANY 100000
#define STABLE 500

static struct kal_dir top;

/* The next name, in `name`; its kind, or 0 at the end. */
static int next(struct kal_dir dir, kal_uintptr *iter, char name[256])
{
    kal_uintptr length = 0;
    int kind = 0;

    CHECK(kal_fs_list_next(dir, iter, name, 255, &length, &kind) == kal_ok);
    CHECK((*iter == 0) == (length == 0));
    name[length] = 0;
    return kind;
}

static void everything_is_listed_once(void)
{
    static unsigned char seen[MANY];
    char name[256];
    kal_uintptr iter;
    struct kal_dir dir;
    int count = 0, before = open_descriptors();

    CHECK(mkdir("many", 0777) == 0 && chdir("many") == 0);
    put("0", "");
    for (int i = 1; i < MANY; i++) {
        snprintf(name, sizeof name, "%d", i);
        if (link(i % 1000 ? "0" : name, name) != 0) /* a file has no more than so many names */
            put(name, "");
    }
    CHECK(chdir("..") == 0 && kal_fs_open_dir(top, NAME("many"), &dir) == kal_ok);
    CHECK(kal_fs_list_begin(dir, &iter) == kal_ok);
    for (int kind; (kind = next(dir, &iter, name)) != 0; count++) {
        int i = atoi(name);

        CHECK(kind == kal_node_file && i >= 0 && i < MANY && seen[i]++ == 0);
    }
    CHECK(count == MANY && open_descriptors() == before + 1);
    kal_fs_close_dir(dir);
    CHECK(system("rm -rf many") == 0);
}

static void an_entry_is_what_it_is(void)
{
    static const struct {
        const char *name;
        int kind;
    } want[] = {{"d", kal_node_directory}, {"f", kal_node_file}, {"fifo", kal_node_other}, {"l", kal_node_link}};
    kal_uintptr iter = 0, length = 77;
    char name[256] = "";
    int kind = 7, count = 0;
    struct kal_dir dir;

    CHECK(mkdir("kinds", 0777) == 0 && chdir("kinds") == 0 && mkdir("d", 0777) == 0);
    CHECK(mkfifo("fifo", 0666) == 0 && symlink("d", "l") == 0);
    put("f", "");
    CHECK(chdir("..") == 0 && kal_fs_open_dir(top, NAME("kinds"), &dir) == kal_ok);
    CHECK(kal_fs_list_begin(dir, NULL) == kal_err_invalid && kal_fs_list_begin(dir, &iter) == kal_ok);
    CHECK(kal_fs_list_next(dir, NULL, name, 255, &length, &kind) == kal_err_invalid);
    CHECK(kal_fs_list_next(dir, &iter, name, 255, NULL, &kind) == kal_err_invalid);
    CHECK(kal_fs_list_next(dir, &iter, name, 255, &length, NULL) == kal_err_invalid);
    CHECK(kal_fs_list_next(dir, &iter, NULL, 255, &length, &kind) == kal_err_invalid);
    CHECK(kal_fs_list_next(top, &iter, name, 255, &length, &kind) == kal_err_invalid); /* it is not that one's */
    CHECK(length == 77 && kind == 7);
    while ((kind = next(dir, &iter, name)) != 0) {
        for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
            count += strcmp(name, want[i].name) == 0 && kind == want[i].kind;
    }
    CHECK(count == 4);
    kind = 7, length = 77;
    CHECK(kal_fs_list_next(dir, &iter, name, 255, &length, &kind) == kal_err_invalid && kind == 7 && length == 77);
    CHECK(kal_fs_list_begin(dir, &iter) == kal_ok); /* a name that does not fit has its length */
    for (count = 0; count < 4; count++)
        CHECK(kal_fs_list_next(dir, &iter, name, 0, &length, &kind) == kal_ok && (length == 1 || length == 4));
    CHECK(kal_fs_list_next(dir, &iter, name, 0, &length, &kind) == kal_ok && iter == 0);
    kal_fs_close_dir(dir);
    CHECK(system("rm -rf kinds") == 0);
}

static void lists_end_with_their_directory(void)
{
    kal_uintptr iters[10], length, other;
    int kind, before = open_descriptors();
    struct kal_dir dir = working_directory();

    for (int i = 0; i < 10; i++)
        CHECK(kal_fs_list_begin(dir, &iters[i]) == kal_ok);
    CHECK(kal_fs_list_begin(top, &other) == kal_ok && open_descriptors() == before + 12);
    kal_fs_close_dir(dir);
    CHECK(open_descriptors() == before + 1);
    for (int i = 0; i < 10; i++) {
        CHECK(kal_fs_list_next(dir, &iters[i], NULL, 0, &length, &kind) == kal_err_invalid);
        CHECK(kal_fs_list_next(top, &iters[i], NULL, 0, &length, &kind) == kal_err_invalid);
    }
    CHECK(kal_fs_list_next(top, &other, NULL, 0, &length, &kind) == kal_ok && other == 0); /* top is empty */
    CHECK(open_descriptors() == before);
}

static bool over;

/* Make and remove other entries than those that stay. */
static void *change(void *unused)
{
    char name[32];

    (void)unused;
    for (unsigned i = 0; !__atomic_load_n(&over, __ATOMIC_RELAXED); i++) {
        snprintf(name, sizeof name, "changing/x%u", i % 1000);
        if (unlink(name) != 0)
            CHECK(mknod(name, S_IFREG | 0666, 0) == 0);
    }
    return NULL;
}

static void what_stays_is_listed_once_while_others_change(void)
{
    char name[256];
    pthread_t thread;
    struct kal_dir dir;

    CHECK(mkdir("changing", 0777) == 0 && chdir("changing") == 0);
    for (int i = 0; i < STABLE; i++) {
        snprintf(name, sizeof name, "%d", i);
        put(name, "");
    }
    CHECK(chdir("..") == 0 && kal_fs_open_dir(top, NAME("changing"), &dir) == kal_ok);
    over = false;
    CHECK(pthread_create(&thread, NULL, change, NULL) == 0);
    for (int round = 0; round < 50; round++) {
        unsigned char seen[STABLE] = {0};
        kal_uintptr iter;
        int count = 0;

        CHECK(kal_fs_list_begin(dir, &iter) == kal_ok);
        while (next(dir, &iter, name) != 0) {
            if (name[0] != 'x') {
                CHECK(seen[atoi(name)]++ == 0);
                count++;
            }
        }
        CHECK(count == STABLE);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(system("rm -rf changing") == 0);
    kal_fs_close_dir(dir);
}

static void a_removed_directory_is_empty(void)
{
    kal_uintptr iter;
    struct kal_dir dir;
    char name[256];

    CHECK(mkdir("gone", 0777) == 0 && kal_fs_open_dir(top, NAME("gone"), &dir) == kal_ok);
    CHECK(kal_fs_list_begin(dir, &iter) == kal_ok && rmdir("gone") == 0);
    CHECK(next(dir, &iter, name) == 0 && iter == 0);
    kal_fs_close_dir(dir);
}

#if !defined(__SANITIZE_ADDRESS__) /* whose own locks stay locked in a copy */
static void *list_again_and_again(void *unused)
{
    kal_uintptr iter;
    char name[256];

    (void)unused;
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        CHECK(kal_fs_list_begin(top, &iter) == kal_ok);
        while (next(top, &iter, name) != 0)
            ;
    }
    return NULL;
}

/* In a copy of the process, what another task was doing with lists is in nobody's way. */
static void lists_work_in_a_copy(void)
{
    pthread_t threads[2];

    CHECK(mkdir("d", 0777) == 0);
    over = false;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, list_again_and_again, NULL) == 0);
    for (int i = 0; i < 200; i++) {
        int status;
        pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
            kal_uintptr iter;
            char name[256];

            CHECK(kal_fs_list_begin(top, &iter) == kal_ok && next(top, &iter, name) == kal_node_directory);
            kal_fs_close_dir(top);
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(rmdir("d") == 0);
}

#endif

static void *list_shared(void *shared)
{
    struct kal_dir dir = *(struct kal_dir *)shared;
    kal_uintptr iter, length;
    int kind;

    for (int i = 0; i < 300 && kal_fs_list_begin(dir, &iter) == kal_ok; i++) {
        while (iter != 0 && kal_fs_list_next(dir, &iter, NULL, 0, &length, &kind) == kal_ok)
            ;
    }
    return NULL;
}

/* A directory that one task closes while others list it: nothing stays open, and nothing else is closed. */
static void a_directory_is_closed_under_its_lists(void)
{
    int before = open_descriptors();

    CHECK(mkdir("d", 0777) == 0);
    for (int round = 0; round < 50; round++) {
        struct kal_dir dir = working_directory();
        pthread_t threads[3];

        for (int i = 0; i < 3; i++)
            CHECK(pthread_create(&threads[i], NULL, list_shared, &dir) == 0);
        for (int i = 0; i < round; i++)
            sched_yield();
        kal_fs_close_dir(dir);
        for (int i = 0; i < 3; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(open_descriptors() == before);
    }
    CHECK(rmdir("d") == 0);
}

int main(void)
{
    top = fresh("lists");
    everything_is_listed_once();
    an_entry_is_what_it_is();
    lists_end_with_their_directory();
    what_stays_is_listed_once_while_others_change();
    a_removed_directory_is_empty();
#if !defined(__SANITIZE_ADDRESS__)
    lists_work_in_a_copy();
#endif
    a_directory_is_closed_under_its_lists();
    leave(top);
    CHECK(rmdir("lists") == 0);
    return 0;
}
