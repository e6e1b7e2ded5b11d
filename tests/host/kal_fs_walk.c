/* Names that lead through many links, resolved by the host's own walk as by the kernel, and resolved while somebody
 * exchanges what they lead through.                                                                SPEC: FS-3 */
#define _GNU_SOURCE
#include <linux/openat2.h>
#include <pthread.h>
#include <sys/mman.h>

#include "kal/fs_names.h"
#include "kal/sys.h"
#include "kal_fs.h"
#include "without_openat2.h"

#define NAMES 20000
#define DEPTH 3
#define ATTACKS 20000
#define ROOM 512

static uint64_t dice;

static unsigned roll(unsigned sides)
{
    dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(dice >> 33) % sides;
}

static void join(char text[ROOM], const char *const *parts, unsigned count, unsigned most)
{
    for (unsigned i = 1 + roll(most); i-- != 0;) {
        strcat(text, parts[roll(count)]);
        if (i != 0)
            strcat(text, "/");
    }
}

static void make_links(const char *here)
{
    static const char *const parts[] = {"a", "b", "c", "l", "m", "n", "f", "x", ".", "..", "..", "b/"};
    static const char *const names[] = {"l", "m", "n"};

    for (unsigned i = 0; i < 3; i++) {
        char text[ROOM] = "";

        if (roll(8) == 0)
            strcat(text, roll(2) ? here : "/");
        if (text[0] != 0 && roll(2))
            strcat(text, "/");
        join(text, parts, sizeof parts / sizeof parts[0], 5);
        if (roll(5) == 0)
            strcat(text, "/");
        CHECK(symlink(text, names[i]) == 0);
    }
}

static void make_tree(const char *here, unsigned depth)
{
    static const char *const names[] = {"a", "b", "c"};

    put("f", "f");
    make_links(here);
    for (unsigned i = 0; i < 3 && depth != 0; i++) {
        CHECK(mkdir(names[i], 0777) == 0 && chdir(names[i]) == 0);
        make_tree(here, depth - 1);
        CHECK(chdir("..") == 0);
    }
}

struct answer {
    int error;
    char path[ROOM]; /* of what was opened, below the tree */
};

static const int ways[] = {
    O_PATH, O_PATH | O_DIRECTORY, O_RDONLY, O_RDONLY | O_DIRECTORY, O_WRONLY | O_CREAT, O_WRONLY | O_CREAT | O_EXCL};
#define WAYS 6
#define WAYS_THAT_MAKE_NOTHING 4 /* beneath "/" links may lead anywhere */

static int ask_the_kernel(struct fs_base base, const char *name, int flags)
{
    struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC,
                           .mode = (flags & O_CREAT) != 0 ? 0666 : 0,
                           .resolve = base.is_root ? RESOLVE_IN_ROOT : RESOLVE_BENEATH};
    int fd = (int)syscall(SYS_openat2, base.fd, name, &how, sizeof how);

    return fd >= 0 ? fd : -sys_error(errno == EXDEV ? EACCES : errno);
}

/* Ask for the same names of the same tree, and write down where they lead. */
static void answer(struct answer *answers, bool is_root, bool by_the_kernel)
{
    static const char *const parts[] = {"a", "b", "c", "l", "m", "n", "l", "m", "n", "f", "x"};
    char here[ROOM], itself[64], opened[PATH_MAX];
    struct fs_base base;

    CHECK(getcwd(here, sizeof here) != NULL);
    dice = 1;
    make_tree(here, DEPTH);
    base = (struct fs_base){open(is_root ? "/" : ".", O_RDONLY | O_DIRECTORY), is_root};
    for (int i = 0; i < NAMES; i++) {
        char name[2 * ROOM] = "";
        int way = ways[roll(is_root ? WAYS_THAT_MAKE_NOTHING : WAYS)], fd;
        ssize_t size;

        if (is_root)
            snprintf(name, sizeof name, "%s/", here + 1);
        join(name, parts, sizeof parts / sizeof parts[0], 5);
        CHECK(fs_is_name(name, strlen(name)));
        fd = by_the_kernel ? ask_the_kernel(base, name, way) : fs_open_at(base, name, strlen(name), way, 0666);
        answers[i].error = fd < 0 ? -fd : 0;
        if (fd < 0)
            continue;
        snprintf(itself, sizeof itself, "/proc/self/fd/%d", fd);
        size = readlink(itself, opened, sizeof opened - 1);
        CHECK(size > 0 && close(fd) == 0);
        opened[size] = 0;
        if (strncmp(opened, here, strlen(here)) == 0)
            snprintf(answers[i].path, ROOM, "%.*s", ROOM - 1, opened + strlen(here));
    }
}

static struct answer *asked;
static bool asked_of_root;

static void walk_it(void)
{
    CHECK(mkdir("1", 0777) == 0 && chdir("1") == 0);
    answer(asked + NAMES, asked_of_root, false);
}

static void ask_it(void)
{
    CHECK(mkdir("0", 0777) == 0 && chdir("0") == 0);
    answer(asked, asked_of_root, true);
}

static inline void the_walk_agrees_with_the_kernel(bool is_root)
{
    size_t size = 2 * NAMES * sizeof *asked;
    int opened = 0;

    asked = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    asked_of_root = is_root;
    CHECK(asked != MAP_FAILED && mkdir("trees", 0777) == 0 && chdir("trees") == 0);
    in_child(ask_it, 0);
    in_child(walk_it, ENOSYS);
    for (int i = 0; i < NAMES; i++) {
        if (asked[i].error != asked[NAMES + i].error || strcmp(asked[i].path, asked[NAMES + i].path) != 0)
            fprintf(stderr, "%d: %d %s, %d %s\n", i, asked[i].error, asked[i].path, asked[NAMES + i].error,
                    asked[NAMES + i].path);
        CHECK(asked[i].error == asked[NAMES + i].error && strcmp(asked[i].path, asked[NAMES + i].path) == 0);
        opened += asked[i].error == 0;
    }
    CHECK(opened > NAMES / 20 && opened < NAMES);
    CHECK(munmap(asked, size) == 0 && chdir("..") == 0 && system("rm -rf trees") == 0);
}

static struct kal_dir top;
static bool over;

/* A directory and a link that leads out take each other's place, again and again. */
static void *exchange(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
        CHECK(renameat2(AT_FDCWD, "base/d", AT_FDCWD, "base/link", RENAME_EXCHANGE) == 0);
    return NULL;
}

/* A directory is taken out, so that above it lies what is outside, and put back. */
static void *take_out(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
        CHECK(rename("base/deep", "outside/deep") == 0 && rename("outside/deep", "base/deep") == 0);
    return NULL;
}

static int read_one(const char *name)
{
    struct kal_file file;
    char byte;
    int error = kal_fs_open(top, name, strlen(name), KAL_OPEN_READ, &file);

    if (error != kal_ok)
        return -error;
    CHECK(kal_stream_read(kal_fs_stream(file), &byte, 1) == 1);
    kal_fs_close_file(file);
    return byte;
}

static ino_t node_of(const char *path)
{
    struct stat node;

    CHECK(stat(path, &node) == 0);
    return node.st_ino;
}

/* Everything that takes a name, where the name would be the outside's for whoever looks at the wrong moment. */
static void attack_names(ino_t outside)
{
    struct kal_node_info info = {.self_size = sizeof info};
    struct kal_file file;
    struct kal_dir dir;

    if (kal_fs_open(top, NAME("d/new"), KAL_OPEN_WRITE | KAL_OPEN_CREATE, &file) == kal_ok)
        kal_fs_close_file(file);
    (void)kal_fs_mkdir(top, NAME("d/made"));
    (void)kal_fs_link_create(top, NAME("d/linked"), NAME("x"), 0);
    (void)kal_fs_remove(top, NAME("d/victim"));
    (void)kal_fs_rename(top, NAME("d/moved"), top, NAME("moved"));
    (void)kal_fs_rename(top, NAME("moved"), top, NAME("d/moved"));
    (void)kal_fs_set_modified_at(top, NAME("d/secret"), 0);
    CHECK(kal_fs_info(top, NAME("d/secret"), 0, KAL_INFO_ALL, &info) != kal_ok || info.identity[1] != outside);
    if (kal_fs_open_dir(top, NAME("d"), &dir) == kal_ok) {
        CHECK(kal_fs_info(dir, NAME("secret"), 0, KAL_INFO_ALL, &info) == kal_ok && info.identity[1] != outside);
        kal_fs_close_dir(dir);
    }
}

static void attack(void *(*attacker)(void *), const char *name)
{
    ino_t outside = node_of("outside/secret");
    int inside = 0, refused = 0;
    pthread_t thread;

    over = false;
    CHECK(pthread_create(&thread, NULL, attacker, NULL) == 0);
    for (int i = 0; i < ATTACKS || inside == 0 || refused == 0; i++) {
        int got = read_one(name);

        CHECK(got == 'i' || got == -kal_err_permission || got == -kal_err_not_found || got == -kal_err_again);
        inside += got == 'i';
        refused += got != 'i';
        if (attacker == exchange && i % 8 == 0)
            attack_names(outside);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void what_is_outside_is_never_reached(void)
{
    struct stat secret;

    CHECK(mkdir("race", 0777) == 0 && chdir("race") == 0 && mkdir("outside", 0777) == 0);
    CHECK(mkdir("base", 0777) == 0 && mkdir("base/d", 0777) == 0 && mkdir("base/deep", 0777) == 0);
    put("outside/secret", "o"), put("outside/victim", "o"), put("outside/moved", "o"), put("outside/file", "o");
    put("base/d/secret", "i"), put("base/d/victim", "i"), put("base/file", "i");
    CHECK(symlink("deep/../../outside", "base/link") == 0 && symlink("../file", "base/deep/up") == 0);
    CHECK(chdir("base") == 0);
    top = working_directory();
    CHECK(chdir("..") == 0);
    attack(exchange, "d/secret");
    attack(take_out, "deep/up");
    kal_fs_close_dir(top);
    CHECK(access("outside/new", F_OK) != 0 && access("outside/made", F_OK) != 0);
    CHECK(faccessat(AT_FDCWD, "outside/linked", F_OK, AT_SYMLINK_NOFOLLOW) != 0);
    CHECK(access("outside/victim", F_OK) == 0 && access("outside/moved", F_OK) == 0);
    CHECK(stat("outside/secret", &secret) == 0 && secret.st_mtim.tv_sec > 1000000000);
    CHECK(chdir("..") == 0 && system("rm -rf race") == 0);
}

int main(void)
{
#if defined(__x86_64__)
    the_walk_agrees_with_the_kernel(false);
    the_walk_agrees_with_the_kernel(true);
#endif
    EVERY_WAY(what_is_outside_is_never_reached);
    return 0;
}
