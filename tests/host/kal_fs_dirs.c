/* Directories of openkal.fs: those that are given, names that come and go, links, the medium.
 * SPEC: FS-1, FS-4, FS-9, FS-10, FS-12 */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/statvfs.h>

#include "kal_fs.h"
#include "without_openat2.h"

static struct kal_dir top;

/* The words of the plan for the directories that are given. */
static void give(const char *words, size_t size)
{
    test_plan.preopens = (struct plan_words){words, size};
}

static void directories_are_given(void)
{
    struct kal_dir first = {0}, second = {0};
    char name[8] = "xxxxxxx", words[64];
    kal_uintptr length = 77;
    struct kal_node_info info = {.self_size = sizeof info};
    struct stat node;
    int size, fd;

    CHECK(kal_fs_preopen_count() == 2);
    CHECK(kal_fs_preopen(0, &first, name, sizeof name, &length) == kal_ok && length == 1);
    CHECK(memcmp(name, ".xxxxxx", sizeof name) == 0);
    CHECK(kal_fs_info(first, NAME("."), 0, KAL_INFO_IDENTITY, &info) == kal_ok && stat(".", &node) == 0);
    CHECK(info.identity[1] == node.st_ino);
    CHECK(kal_fs_preopen(0, &second, NULL, 0, &length) == kal_ok && second.h != first.h);
    kal_fs_close_dir(first); /* each is the caller's own */
    CHECK(kal_fs_info(second, NAME("."), 0, KAL_INFO_KIND, &info) == kal_ok);
    kal_fs_close_dir(second);
    CHECK(kal_fs_preopen(1, &first, name, sizeof name, &length) == kal_ok && name[0] == '/');
    kal_fs_close_dir(first);
    CHECK(kal_fs_preopen(2, &first, name, sizeof name, &length) == kal_err_not_found);
    CHECK(kal_fs_preopen((kal_uintptr)-1, &first, name, sizeof name, &length) == kal_err_not_found);
    length = 77;
    CHECK(kal_fs_preopen(0, NULL, name, sizeof name, &length) == kal_err_invalid);
    CHECK(kal_fs_preopen(0, &first, name, sizeof name, NULL) == kal_err_invalid);
    CHECK(kal_fs_preopen(0, &first, NULL, 1, &length) == kal_err_invalid && length == 77);

    CHECK(mkdir("given", 0777) == 0 && (fd = open("given", O_RDONLY | O_DIRECTORY)) > 2);
    size = snprintf(words, sizeof words, "%d%cgiven=it%c%d%c.%c", fd, 0, 0, fd, 0, 0);
    give(words, (size_t)size);
    CHECK(kal_fs_preopen_count() == 2);
    CHECK(kal_fs_preopen(0, &first, name, 3, &length) == kal_ok && length == 8 && memcmp(name, "giv", 3) == 0);
    CHECK(kal_fs_mkdir(first, NAME("made")) == kal_ok && rmdir("given/made") == 0);
    kal_fs_close_dir(first);
    CHECK(kal_fs_preopen(1, &first, name, sizeof name, &length) == kal_ok && length == 1 && name[0] == '.');
    kal_fs_close_dir(first);
    CHECK(kal_fs_preopen(2, &first, name, sizeof name, &length) == kal_err_not_found);
    give("", 1);
    CHECK(kal_fs_preopen_count() == 0);
    CHECK(kal_fs_preopen(0, &first, name, sizeof name, &length) == kal_err_not_found);
    give("", 0);
    CHECK(close(fd) == 0 && rmdir("given") == 0);
}

static void directories_are_opened(void)
{
    struct kal_dir dir = {7}, again;
    int before = open_descriptors();

    put("f", "f");
    CHECK(mkdir("d", 0777) == 0 && symlink("d", "l") == 0);
    CHECK(kal_fs_open_dir(top, NAME("f"), &dir) == kal_err_not_directory && dir.h == 7);
    CHECK(kal_fs_open_dir(top, NAME("none"), &dir) == kal_err_not_found && dir.h == 7);
    CHECK(kal_fs_open_dir(top, NAME("d"), NULL) == kal_err_invalid);
    CHECK(kal_fs_open_dir(top, NAME("l"), &dir) == kal_ok && kal_fs_open_dir(dir, NAME("."), &again) == kal_ok);
    kal_fs_close_dir(dir);
    CHECK(kal_fs_mkdir(dir, NAME("e")) == kal_err_invalid && kal_fs_mkdir(again, NAME("e")) == kal_ok);
    CHECK(rmdir("d/e") == 0 && rmdir("d") == 0);
    CHECK(kal_fs_mkdir(again, NAME("e")) == kal_err_not_found); /* it was removed */
    kal_fs_close_dir(again);
    CHECK(open_descriptors() == before && unlink("f") == 0 && unlink("l") == 0);
}

static void names_come_and_go(void)
{
    struct kal_dir d, e;
    struct stat node;
    int before;

    CHECK(kal_fs_mkdir(top, NAME("d")) == kal_ok && kal_fs_mkdir(top, NAME("d")) == kal_err_exists);
    CHECK(kal_fs_mkdir(top, NAME("d/e")) == kal_ok && kal_fs_mkdir(top, NAME("none/e")) == kal_err_not_found);
    CHECK(kal_fs_mkdir(top, NAME(".")) == kal_err_exists && kal_fs_remove(top, NAME(".")) == kal_err_invalid);
    put("f", "f"), put("d/g", "g");
    before = open_descriptors();
    CHECK(kal_fs_mkdir(top, NAME("f/x")) == kal_err_not_directory && kal_fs_mkdir(top, NAME("f")) == kal_err_exists);
    CHECK(kal_fs_remove(top, NAME("d")) == kal_err_not_empty && kal_fs_remove(top, NAME("none")) == kal_err_not_found);
    CHECK(kal_fs_rename(top, NAME("f"), top, NAME("d")) == kal_err_is_directory);
    CHECK(kal_fs_rename(top, NAME("d"), top, NAME("f")) == kal_err_not_directory);
    CHECK(kal_fs_rename(top, NAME("d"), top, NAME("d/e/x")) == kal_err_invalid);
    CHECK(kal_fs_rename(top, NAME("."), top, NAME("x")) == kal_err_invalid);
    CHECK(kal_fs_rename(top, NAME("f"), top, NAME(".")) == kal_err_invalid);
    CHECK(kal_fs_rename(top, NAME("none"), top, NAME("x")) == kal_err_not_found);
    CHECK(kal_fs_rename(top, NAME("f"), (struct kal_dir){5}, NAME("x")) == kal_err_invalid);
    CHECK(kal_fs_open_dir(top, NAME("d"), &d) == kal_ok && kal_fs_open_dir(top, NAME("d/e"), &e) == kal_ok);
    CHECK(kal_fs_rename(top, NAME("f"), e, NAME("h")) == kal_ok && access("d/e/h", F_OK) == 0);
    CHECK(kal_fs_rename(d, NAME("e/h"), d, NAME("g")) == kal_ok && stat("d/g", &node) == 0 && node.st_size == 1);
    CHECK(access("d/e/h", F_OK) != 0 && kal_fs_mkdir(top, NAME("x")) == kal_ok);
    CHECK(kal_fs_mkdir(top, NAME("d/full")) == kal_ok && kal_fs_mkdir(top, NAME("d/full/y")) == kal_ok);
    CHECK(kal_fs_rename(top, NAME("x"), d, NAME("full")) == kal_err_not_empty);
    CHECK(kal_fs_rename(top, NAME("x"), d, NAME("e")) == kal_ok); /* an empty directory's place */
    kal_fs_close_dir(d), kal_fs_close_dir(e);

    CHECK(kal_fs_link_create(top, NAME("l"), NAME("d"), KAL_FS_LINK_DIRECTORY) == kal_ok);
    CHECK(kal_fs_link_create(top, NAME("l"), NAME("d"), 0) == kal_err_exists);
    CHECK(kal_fs_mkdir(top, NAME("l")) == kal_err_exists && kal_fs_remove(top, NAME("l")) == kal_ok);
    CHECK(access("d", F_OK) == 0 && open_descriptors() == before);
    CHECK(system("rm -rf d") == 0);
}

static void links_say_a_text(void)
{
    static char longest[4096];
    char got[8] = "xxxxxxx", whole[4096];

    memset(longest, 't', sizeof longest);
    CHECK(kal_fs_link_create(top, NAME("l"), longest, sizeof longest, 0) == kal_err_invalid);
    CHECK(kal_fs_link_create(top, NAME("l"), longest, 0, 0) == kal_err_invalid);
    CHECK(kal_fs_link_create(top, NAME("l"), NULL, 1, 0) == kal_err_invalid);
    CHECK(kal_fs_link_create(top, NAME("l"), NAME("a\0b"), 0) == kal_err_invalid);
    CHECK(kal_fs_link_create(top, NAME("l"), NAME("a"), 2) == kal_err_invalid);
    CHECK(kal_fs_link_create(top, NAME("l"), longest, (kal_uintptr)-1, 0) == kal_err_invalid);
    CHECK(kal_fs_link_create(top, NAME("none/l"), NAME("a"), 0) == kal_err_not_found);
    CHECK(kal_fs_link_create(top, NAME("l"), longest, sizeof longest - 1, 0) == kal_ok);
    CHECK(kal_fs_link_read(top, NAME("l"), whole, sizeof whole) == 4095 && memcmp(whole, longest, 4095) == 0);
    CHECK(unlink("l") == 0 && kal_fs_link_create(top, NAME("l"), NAME("/../\xff a"), 0) == kal_ok);
    CHECK(kal_fs_link_read(top, NAME("l"), NULL, 0) == 7 && kal_fs_link_read(top, NAME("l"), got, 3) == 7);
    CHECK(memcmp(got, "/..xxxx", 7) == 0);
    CHECK(kal_fs_link_read(top, NAME("l"), got, sizeof got) == 7 && memcmp(got, "/../\xff a", 7) == 0);
    CHECK(kal_fs_link_read(top, NAME("l"), NULL, 1) == -kal_err_invalid);
    CHECK(kal_fs_link_read(top, NAME("."), got, 1) == -kal_err_invalid); /* is no link */
    CHECK(kal_fs_link_read(top, NAME("none"), got, 1) == -kal_err_not_found);
    CHECK(unlink("l") == 0);
}

static void the_medium(void)
{
    struct statvfs medium;
    kal_u64 total = 0, available = 0;

    CHECK(kal_fs_capacity(top, &total, &available) == kal_ok && statvfs(".", &medium) == 0);
    CHECK(total == (kal_u64)medium.f_blocks * medium.f_frsize && available <= total);
    CHECK(kal_fs_capacity(top, NULL, &available) == kal_ok && kal_fs_capacity(top, &total, NULL) == kal_ok);
    CHECK(kal_fs_capacity(top, NULL, NULL) == kal_ok);
    CHECK(kal_fs_props(top) == 0x7f); /* all seven, on a file system of this one's own */
}

static void run(void)
{
    top = fresh("dirs");
    directories_are_given();
    directories_are_opened();
    names_come_and_go();
    links_say_a_text();
    the_medium();
    leave(top);
    CHECK(rmdir("dirs") == 0);
}

int main(void)
{
    EVERY_WAY(run);
    return 0;
}
