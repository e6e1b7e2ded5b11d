/* Names of openkal.fs: what is one, and what it leads to, with openat2() and without.        SPEC: FS-2, FS-3 */
#define _GNU_SOURCE
#include "kal_fs.h"
#include "without_openat2.h"

#define LONGEST 65536
#define COMPONENT 255

static struct kal_dir top;

/* Every function that takes a name, asked for that name: its error. */
static int ask(int function, struct kal_dir base, const char *name, kal_uintptr len)
{
    struct kal_node_info info = {.self_size = sizeof info};
    struct kal_dir dir;
    struct kal_file file;

    switch (function) {
    case 0:
        return kal_fs_info(base, name, len, 0, KAL_INFO_ALL, &info);
    case 1:
        return kal_fs_info(base, name, len, KAL_FS_NO_RESOLVE, KAL_INFO_ALL, &info);
    case 2:
        return kal_fs_open_dir(base, name, len, &dir);
    case 3:
        return kal_fs_open(base, name, len, KAL_OPEN_READ, &file);
    case 4:
        return kal_fs_open(base, name, len, KAL_OPEN_WRITE | KAL_OPEN_CREATE, &file);
    case 5:
        return kal_fs_mkdir(base, name, len);
    case 6:
        return kal_fs_remove(base, name, len);
    case 7:
        return kal_fs_rename(base, name, len, top, NAME("new"));
    case 8:
        return kal_fs_rename(top, NAME("there"), base, name, len);
    case 9:
        return kal_fs_set_modified_at(base, name, len, 1);
    case 10:
        return kal_fs_link_create(base, name, len, NAME("target"), 0);
    case 11:
        return -(int)kal_fs_link_read(base, name, len, NULL, 0);
    default:
        return -1;
    }
}

static void what_is_no_name_is_refused(void)
{
    static char longer[LONGEST + 2], component[COMPONENT + 1];
    const struct {
        const char *name;
        kal_uintptr len;
    } bad[] = {
        {NULL, 0}, {NULL, 3}, {"there", 0}, {NAME("..")}, {NAME("../there")}, {NAME("d/..")}, {NAME("d/../there")},
        {NAME("/")}, {NAME("/there")}, {NAME("//there")}, {NAME("d/")}, {NAME("there/")}, {NAME("d//x")},
        {NAME("./there")}, {NAME("d/.")}, {NAME("d/./x")}, {NAME("./.")}, {NAME("\0")}, {NAME("there\0")},
        {NAME("th\0ere")}, {NAME("d/x\0")}, {component, sizeof component}, {longer, LONGEST + 1},
        {"there", (kal_uintptr)-1}, {"there", (kal_uintptr)1 << 63},
    };
    int before;

    top = fresh("none");
    memset(component, 'c', sizeof component);
    for (size_t i = 0; i < sizeof longer; i++)
        longer[i] = i % 2 ? '/' : 'a';
    put("there", "text");
    CHECK(mkdir("d", 0777) == 0);
    before = open_descriptors();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        for (int function = 0; ask(function, top, bad[i].name, bad[i].len) != -1; function++)
            CHECK(ask(function, top, bad[i].name, bad[i].len) == kal_err_invalid);
    }
    CHECK(open_descriptors() == before && access("there", F_OK) == 0 && rmdir("d") == 0);
    leave(top);
}

/* A word that is no open directory, whatever else it stands for. */
static void what_is_no_directory_is_refused(void)
{
    struct kal_dir closed, dir;
    struct kal_file file;
    kal_uintptr words[9], iter;

    top = fresh("words");
    closed = working_directory();
    kal_fs_close_dir(closed);
    put("there", "text");
    CHECK(kal_fs_open(top, NAME("there"), KAL_OPEN_READ, &file) == kal_ok);
    CHECK(kal_fs_list_begin(top, &iter) == kal_ok);
    dir = working_directory();
    words[0] = 0, words[1] = 1, words[2] = (kal_uintptr)-1, words[3] = closed.h, words[4] = file.h;
    words[5] = kal_fs_stream(file).h, words[6] = iter, words[7] = top.h ^ UINT64_C(1) << 28, words[8] = top.h ^ 0x100;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct kal_dir none = {words[i]};
        kal_u64 bytes = 7;

        for (int function = 0; ask(function, none, NAME("there")) != -1; function++)
            CHECK(ask(function, none, NAME("there")) == kal_err_invalid);
        CHECK(kal_fs_list_begin(none, &words[1]) == kal_err_invalid && words[1] == 1);
        CHECK(kal_fs_capacity(none, &bytes, &bytes) == kal_err_invalid && bytes == 7);
        CHECK(kal_fs_props(none) == 0);
        kal_fs_close_dir(none); /* is nothing */
    }
    CHECK(kal_fs_remove(dir, NAME("there")) == kal_ok && kal_fs_list_begin(top, &iter) == kal_ok);
    kal_fs_close_dir(dir);
    kal_fs_close_file(file);
    leave(top);
}

/* Each byte but "/" and NUL is one of a name, and 255 of them are a component. */
static void names_are_bytes(void)
{
    char all[COMPONENT + 1];
    size_t size = 0;
    struct kal_node_info info = {.self_size = sizeof info};
    struct kal_file file;

    top = fresh("bytes");
    for (int byte = 1; byte < 256; byte++) {
        char name = (char)byte;

        if (name == '/')
            continue;
        all[size++] = name;
        if (name == '.')
            continue;
        CHECK(kal_fs_open(top, &name, 1, KAL_OPEN_WRITE | KAL_OPEN_CREATE | KAL_OPEN_EXCLUSIVE, &file) == kal_ok);
        kal_fs_close_file(file);
        CHECK(kal_fs_remove(top, &name, 1) == kal_ok);
    }
    all[size++] = 'x';
    CHECK(size == COMPONENT && kal_fs_max_name() == COMPONENT);
    CHECK(kal_fs_mkdir(top, all, size) == kal_ok);
    CHECK(kal_fs_info(top, all, size, 0, KAL_INFO_ALL, &info) == kal_ok && info.kind == kal_node_directory);
    all[size] = 0;
    CHECK(rmdir(all) == 0);
    leave(top);
}

/* A name that is longer than the system takes at once leads as far as any. */
static void names_are_long(void)
{
    static char name[LONGEST + 1];
    struct kal_node_info info = {.self_size = sizeof info};
    struct kal_file file;
    kal_uintptr len;

    top = fresh("long");
    memset(name, 'n', sizeof name);
    for (len = COMPONENT; len < LONGEST; len += COMPONENT + 1)
        name[len] = '/';
    for (len = COMPONENT; len < LONGEST - COMPONENT; len += COMPONENT + 1)
        CHECK(kal_fs_mkdir(top, name, len) == kal_ok);
    CHECK(len == LONGEST - 1);
    CHECK(kal_fs_open(top, name, len, KAL_OPEN_WRITE | KAL_OPEN_CREATE, &file) == kal_ok);
    CHECK(kal_stream_write(kal_fs_stream(file), "deep", 4) == 4);
    kal_fs_close_file(file);
    CHECK(kal_fs_info(top, name, len, 0, KAL_INFO_ALL, &info) == kal_ok && info.size == 4);
    CHECK(kal_fs_link_create(top, name, len - 1, NAME("../" "x"), 0) == kal_ok);
    CHECK(kal_fs_link_read(top, name, len - 1, NULL, 0) == 4);
    CHECK(kal_fs_info(top, name, len - 1, 0, KAL_INFO_ALL, &info) == kal_ok && info.kind == kal_node_absent);
    CHECK(kal_fs_remove(top, name, len - 1) == kal_ok);
    CHECK(kal_fs_rename(top, name, len, top, NAME("up")) == kal_ok && unlink("up") == 0);
    for (len -= COMPONENT + 1; len != (kal_uintptr)-1; len -= COMPONENT + 1)
        CHECK(kal_fs_remove(top, name, len) == kal_ok);
    leave(top);
}

/* What a name's end is, by its text; or the negated error. */
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

static void link_to(const char *target, const char *name)
{
    CHECK(kal_fs_link_create(top, name, strlen(name), target, strlen(target), 0) == kal_ok);
}

static void links_lead_within_and_not_out(void)
{
    char here[4096], there[8192];
    struct kal_node_info info = {.self_size = sizeof info};
    struct kal_dir dir;
    struct kal_file file;

    put("outside", "o");
    top = fresh("links");
    CHECK(getcwd(here, sizeof here) != NULL);
    CHECK(mkdir("d", 0777) == 0 && mkdir("d/e", 0777) == 0);
    put("inside", "i");
    put("d/e/deep", "d");
    link_to("inside", "plain");
    link_to("d/e", "down");
    link_to("../inside", "d/up");
    link_to("d/e/../../inside", "around");
    link_to("plain", "twice");
    link_to("./d//e///deep", "untidy");
    link_to("d/e/", "slashed");
    CHECK(read_one("plain") == 'i' && read_one("down/deep") == 'd' && read_one("d/up") == 'i');
    CHECK(read_one("around") == 'i' && read_one("twice") == 'i' && read_one("untidy") == 'd');
    CHECK(read_one("slashed/deep") == 'd' && read_one("slashed") == -kal_err_is_directory);

    link_to("..", "out");
    link_to("../outside", "out-file");
    link_to("d/../../outside", "out-late");
    link_to("../links/inside", "out-and-in");
    link_to("out", "out-twice");
    snprintf(there, sizeof there, "%s/inside", here);
    link_to(there, "absolute");
    link_to("/", "root");
    CHECK(read_one("out/outside") == -kal_err_permission && read_one("out-file") == -kal_err_permission);
    CHECK(read_one("out-late") == -kal_err_permission && read_one("out-and-in") == -kal_err_permission);
    CHECK(read_one("out-twice/outside") == -kal_err_permission && read_one("absolute") == -kal_err_permission);
    CHECK(kal_fs_info(top, NAME("out"), 0, KAL_INFO_ALL, &info) == kal_err_permission);
    CHECK(kal_fs_info(top, NAME("out"), KAL_FS_NO_RESOLVE, KAL_INFO_ALL, &info) == kal_ok);
    CHECK(info.kind == kal_node_link);
    CHECK(kal_fs_open_dir(top, NAME("root"), &dir) == kal_err_permission);
    CHECK(kal_fs_mkdir(top, NAME("out/made")) == kal_err_permission);
    CHECK(kal_fs_remove(top, NAME("out/outside")) == kal_err_permission);
    CHECK(kal_fs_rename(top, NAME("inside"), top, NAME("out/inside")) == kal_err_permission);
    CHECK(kal_fs_rename(top, NAME("out/outside"), top, NAME("outside")) == kal_err_permission);
    CHECK(kal_fs_set_modified_at(top, NAME("out-file"), 1) == kal_err_permission);
    CHECK(kal_fs_link_create(top, NAME("out/link"), NAME("x"), 0) == kal_err_permission);
    CHECK(kal_fs_link_read(top, NAME("out/link"), NULL, 0) == -kal_err_permission);
    CHECK(kal_fs_open(top, NAME("out-file"), KAL_OPEN_WRITE | KAL_OPEN_TRUNCATE, &file) == kal_err_permission);

    link_to("nothing", "dangling");
    link_to("loop", "loop");
    link_to("inside/x", "through-file");
    CHECK(read_one("dangling") == -kal_err_not_found && read_one("loop") == -kal_err_not_found);
    CHECK(read_one("through-file") == -kal_err_not_directory && read_one("inside/x") == -kal_err_not_directory);
    CHECK(read_one("loop/x") == -kal_err_not_found);
    CHECK(kal_fs_info(top, NAME("loop"), 0, KAL_INFO_ALL, &info) == kal_ok && info.kind == kal_node_absent);
    CHECK(kal_fs_open(top, NAME("dangling"), KAL_OPEN_WRITE | KAL_OPEN_CREATE | KAL_OPEN_EXCLUSIVE, &file) ==
          kal_err_exists);
    CHECK(access("nothing", F_OK) != 0);
    CHECK(kal_fs_open(top, NAME("dangling"), KAL_OPEN_WRITE | KAL_OPEN_CREATE, &file) == kal_ok);
    kal_fs_close_file(file);
    CHECK(access("nothing", F_OK) == 0);
    leave(top);
    CHECK(access("made", F_OK) != 0 && access("link", F_OK) != 0 && access("outside", F_OK) == 0);
}

/* In a chain of links the fortieth is followed, as by the system. */
static void links_are_counted(void)
{
    char name[16], target[16];

    top = fresh("chain");
    put("l0", "0");
    for (int i = 1; i <= 41; i++) {
        snprintf(name, sizeof name, "l%d", i);
        snprintf(target, sizeof target, "l%d", i - 1);
        link_to(target, name);
    }
    CHECK(read_one("l40") == '0' && read_one("l41") == -kal_err_not_found);
    leave(top);
}

/* Beneath "/", links to "/" lead there, and ".." of it is itself. */
static void the_root_holds_everything(void)
{
    char here[4096], there[8192];
    struct kal_node_info info = {.self_size = sizeof info};
    struct kal_dir dir;

    (void)fresh("rooted");
    CHECK(getcwd(here, sizeof here) != NULL);
    top = root();
    put("file", "r");
    snprintf(there, sizeof there, "%s/file", here);
    CHECK(symlink(there, "absolute") == 0);
    snprintf(there, sizeof there, "../../../../../../../../../../../../../../..%s/file", here);
    CHECK(symlink(there, "above") == 0);
    snprintf(there, sizeof there, "%s/absolute", here + 1);
    CHECK(read_one(there) == 'r');
    snprintf(there, sizeof there, "%s/above", here + 1);
    CHECK(read_one(there) == 'r');
    CHECK(kal_fs_open_dir(top, here + 1, strlen(here) - 1, &dir) == kal_ok);
    kal_fs_close_dir(top);
    top = dir; /* beneath another directory they do not */
    CHECK(read_one("file") == 'r');
    CHECK(read_one("absolute") == -kal_err_permission && read_one("above") == -kal_err_permission);
    kal_fs_close_dir(top);
    top = root();
    CHECK(kal_fs_info(top, NAME("proc/self/exe"), 0, KAL_INFO_ALL, &info) == kal_err_permission);
    CHECK(kal_fs_open_dir(top, NAME("proc/self/cwd"), &dir) == kal_err_permission);
    CHECK(kal_fs_open_dir(top, NAME("proc/self/task"), &dir) == kal_ok); /* a link that is a text */
    kal_fs_close_dir(dir);
    leave(top);
}

static void run(void)
{
    CHECK(mkdir("way", 0777) == 0 && chdir("way") == 0);
    what_is_no_name_is_refused();
    what_is_no_directory_is_refused();
    names_are_bytes();
    names_are_long();
    links_lead_within_and_not_out();
    links_are_counted();
    the_root_holds_everything();
    CHECK(chdir("..") == 0 && rename("way", "done") == 0);
    CHECK(system("rm -rf done") == 0);
}

int main(void)
{
    EVERY_WAY(run);
    return 0;
}
