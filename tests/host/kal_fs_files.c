/* Files of openkal.fs: opening, positions, lengths, what is known of them, times.
 * SPEC: FS-4, FS-5, FS-6, FS-11 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>

#include "interrupt.h"
#include "kal_fs.h"
#include "without_openat2.h"

#define READ KAL_OPEN_READ
#define WRITE KAL_OPEN_WRITE
#define BOTH (READ | WRITE)
#define SECOND UINT64_C(1000000000)

static struct kal_dir top;

static struct kal_file open_file(const char *name, kal_uintptr flags)
{
    struct kal_file file;

    CHECK(kal_fs_open(top, name, strlen(name), flags, &file) == kal_ok);
    return file;
}

static kal_intptr write_text(struct kal_file file, const char *text)
{
    return kal_stream_write(kal_fs_stream(file), text, strlen(text));
}

static bool reads(struct kal_file file, const char *text)
{
    char got[64];
    kal_intptr size = kal_stream_read(kal_fs_stream(file), got, sizeof got);

    return size == (kal_intptr)strlen(text) && memcmp(got, text, strlen(text)) == 0;
}

/* Of the flags' combinations those are refused that ask for nothing, or for a change that is not to be written. */
static void flags_mean_something_together(void)
{
    struct kal_file file = {7};

    for (kal_uintptr flags = 0; flags < 256; flags++) {
        bool means = (flags & BOTH) != 0 && flags < 64 &&
                     ((flags & WRITE) != 0 || (flags & (KAL_OPEN_TRUNCATE | KAL_OPEN_APPEND)) == 0) &&
                     ((flags & KAL_OPEN_CREATE) != 0 || (flags & KAL_OPEN_EXCLUSIVE) == 0);
        int want = !means                                ? kal_err_invalid
                   : (flags & KAL_OPEN_CREATE) == 0      ? kal_err_not_found
                                                         : kal_ok;

        CHECK(kal_fs_open(top, NAME("f"), flags, &file) == want);
        CHECK((access("f", F_OK) == 0) == (want == kal_ok));
        CHECK(want == kal_ok || file.h == 7);
        if (want == kal_ok) {
            CHECK((flags & KAL_OPEN_EXCLUSIVE) == 0 || kal_fs_open(top, NAME("f"), flags, &file) == kal_err_exists);
            kal_fs_close_file(file);
            CHECK(unlink("f") == 0);
            file.h = 7;
        }
    }
    CHECK(kal_fs_open(top, NAME("f"), (kal_uintptr)1 << 40 | READ, &file) == kal_err_invalid);
    CHECK(kal_fs_open(top, NAME("f"), READ, NULL) == kal_err_invalid);
}

static void a_file_is_opened_for_what_is_asked(void)
{
    struct kal_file one, other;

    umask(027);
    one = open_file("f", WRITE | KAL_OPEN_CREATE);
    umask(022);
    CHECK(write_text(one, "first") == 5);
    CHECK(kal_stream_read(kal_fs_stream(one), (char[1]){0}, 1) == -kal_err_permission);
    other = open_file("f", READ);
    CHECK(reads(other, "first") && reads(other, ""));
    CHECK(write_text(other, "x") == -kal_err_permission);
    CHECK(kal_fs_truncate(other, 0) == kal_err_permission);
    kal_fs_close_file(other);

    other = open_file("f", BOTH | KAL_OPEN_APPEND);
    CHECK(kal_fs_seek(other, 0, KAL_SEEK_SET, NULL) == kal_ok);
    CHECK(write_text(other, "+") == 1 && write_text(one, " second") == 7 && write_text(other, "+") == 1);
    CHECK(kal_fs_seek(other, 0, KAL_SEEK_SET, NULL) == kal_ok && reads(other, "first second+"));
    kal_fs_close_file(other);
    other = open_file("f", WRITE | KAL_OPEN_TRUNCATE);
    kal_fs_close_file(other);
    CHECK(kal_fs_seek(one, 0, KAL_SEEK_END, &(kal_u64){1}) == kal_ok);
    kal_fs_close_file(one);

    CHECK(kal_stream_write(kal_fs_stream(one), "x", 1) == -kal_err_invalid);
    CHECK(kal_fs_stream(one).h == 0 && kal_fs_stream((struct kal_file){top.h}).h == 0);
    kal_fs_close_file(one); /* is nothing */
    CHECK(unlink("f") == 0);
}

static void *open_late(void *name)
{
    int fd;

    nanosleep(&(struct timespec){0, 20000000}, NULL);
    fd = open(name, O_WRONLY);
    CHECK(fd >= 0 && write(fd, "late", 4) == 4 && close(fd) == 0);
    return NULL;
}

static void other_things_than_files(void)
{
    struct kal_file file;
    pthread_t thread;

    CHECK(mkdir("d", 0777) == 0 && mkfifo("fifo", 0666) == 0);
    for (kal_uintptr flags = READ; flags <= BOTH; flags++) {
        CHECK(kal_fs_open(top, NAME("d"), flags, &file) == kal_err_is_directory);
        CHECK(kal_fs_open(top, NAME("."), flags, &file) == kal_err_is_directory);
    }
    CHECK(kal_fs_open(top, NAME("d"), WRITE | KAL_OPEN_CREATE, &file) == kal_err_is_directory);
    CHECK(pthread_create(&thread, NULL, open_late, (char[]){"fifo"}) == 0);
    interrupt(true);
    file = open_file("fifo", READ);
    CHECK(reads(file, "late"));
    interrupt(false);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(kal_fs_seek(file, 0, KAL_SEEK_CURRENT, NULL) == kal_err_not_supported);
    kal_fs_close_file(file);
    CHECK(rmdir("d") == 0 && unlink("fifo") == 0);
}

static void positions_and_lengths(void)
{
    const kal_u64 far = (kal_u64)5 << 30;
    struct kal_file file = open_file("f", BOTH | KAL_OPEN_CREATE);
    struct kal_node_info info = {.self_size = sizeof info};
    kal_u64 at = 77;
    char zeros[] = "xxx";

    CHECK(write_text(file, "0123456789") == 10);
    CHECK(kal_fs_seek(file, -4, KAL_SEEK_CURRENT, &at) == kal_ok && at == 6 && reads(file, "6789"));
    CHECK(kal_fs_seek(file, -1, KAL_SEEK_END, &at) == kal_ok && at == 9);
    at = 77;
    CHECK(kal_fs_seek(file, -1, KAL_SEEK_SET, &at) == kal_err_invalid && at == 77);
    CHECK(kal_fs_seek(file, -11, KAL_SEEK_END, &at) == kal_err_invalid);
    CHECK(kal_fs_seek(file, INT64_MAX, KAL_SEEK_END, &at) == kal_err_invalid);
    CHECK(kal_fs_seek(file, 0, 3, &at) == kal_err_invalid && kal_fs_seek(file, 0, -1, &at) == kal_err_invalid);
    CHECK(kal_fs_seek((struct kal_file){top.h}, 0, 0, &at) == kal_err_invalid && at == 77);

    CHECK(kal_fs_truncate(file, 3) == kal_ok && kal_fs_seek(file, 0, KAL_SEEK_SET, NULL) == kal_ok);
    CHECK(reads(file, "012") && kal_fs_truncate(file, 5) == kal_ok);
    CHECK(kal_stream_read(kal_fs_stream(file), zeros, sizeof zeros) == 2 && zeros[0] == 0 && zeros[1] == 0);
    CHECK(kal_fs_truncate(file, far) == kal_ok);
    CHECK(kal_fs_seek(file, (kal_i64)far - 1, KAL_SEEK_SET, &at) == kal_ok && at == far - 1);
    CHECK(write_text(file, "end") == 3);
    CHECK(kal_fs_file_info(file, KAL_INFO_ALL, &info) == kal_ok && info.size == far + 2);
    CHECK(kal_fs_seek(file, (kal_i64)far - 1, KAL_SEEK_SET, NULL) == kal_ok && reads(file, "end"));
    CHECK(kal_fs_truncate(file, UINT64_MAX) == kal_err_no_space);
    CHECK(kal_fs_truncate(file, INT64_MAX) == kal_err_no_space || kal_fs_truncate(file, INT64_MAX) == kal_ok);
    CHECK(kal_fs_truncate((struct kal_file){top.h}, 0) == kal_err_invalid);
    kal_fs_close_file(file);
    CHECK(unlink("f") == 0);
}

/* What was written is counted; the limit is the next write's answer, and that of a longer length. */
static void a_limit_is_no_space(void)
{
    struct kal_file file = open_file("f", WRITE | KAL_OPEN_CREATE);
    static const char bytes[10000];

    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){6000, RLIM_INFINITY}) == 0);
    CHECK(kal_stream_write(kal_fs_stream(file), bytes, sizeof bytes) == 6000);
    CHECK(kal_stream_write(kal_fs_stream(file), bytes, sizeof bytes) == -kal_err_no_space);
    CHECK(kal_fs_truncate(file, 6001) == kal_err_no_space && kal_fs_truncate(file, 6000) == kal_ok);
    CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}) == 0);
    signal(SIGXFSZ, SIG_DFL);
    kal_fs_close_file(file);
    CHECK(unlink("f") == 0);
}

/* However little room the caller says there is, no byte behind it is written, and only whole fields are present. */
static void no_more_is_known_than_fits(struct kal_file file)
{
    static const struct {
        kal_u32 bit;
        size_t end;
    } fields[] = {{KAL_INFO_SIZE, 16}, {KAL_INFO_MODIFIED, 24}, {KAL_INFO_IDENTITY, 40}, {KAL_INFO_KIND, 44},
                  {KAL_INFO_WRITABLE, 48}};

    for (kal_u32 room = 0; room <= 64; room++) {
        union {
            struct kal_node_info info;
            unsigned char bytes[64];
        } out;
        kal_u32 want = 0;

        memset(&out, 0xee, sizeof out);
        out.info.self_size = room;
        if (room < 8) {
            CHECK(kal_fs_file_info(file, KAL_INFO_ALL, &out.info) == kal_err_invalid);
            CHECK(kal_fs_info(top, NAME("f"), 0, KAL_INFO_ALL, &out.info) == kal_err_invalid);
            want = 0xeeeeeeee;
        } else {
            CHECK(kal_fs_file_info(file, KAL_INFO_ALL, &out.info) == kal_ok);
            for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
                want |= room >= fields[i].end ? fields[i].bit : 0;
        }
        CHECK(out.info.present == want && out.info.self_size == room);
        for (size_t i = room < 8 ? 8 : room < 48 ? room : 48; i < sizeof out; i++)
            CHECK(out.bytes[i] == 0xee);
    }
}

static void what_is_asked_is_known(void)
{
    struct kal_file file = open_file("f", BOTH | KAL_OPEN_CREATE);
    struct kal_node_info info = {.self_size = sizeof info}, named = {.self_size = sizeof named};
    struct stat node;

    CHECK(write_text(file, "text") == 4 && stat("f", &node) == 0 && symlink("f", "l") == 0 && mkdir("d", 0755) == 0);
    CHECK(kal_fs_file_info(file, KAL_INFO_ALL, &info) == kal_ok && info.present == KAL_INFO_ALL);
    CHECK(info.kind == kal_node_file && info.size == 4 && info.writable != 0);
    CHECK(info.identity[0] == node.st_dev && info.identity[1] == node.st_ino);
    CHECK(info.modified_ns == (kal_u64)node.st_mtim.tv_sec * SECOND + (kal_u64)node.st_mtim.tv_nsec);
    CHECK(kal_fs_info(top, NAME("f"), 0, KAL_INFO_ALL, &named) == kal_ok && memcmp(&named, &info, sizeof info) == 0);
    CHECK(kal_fs_info(top, NAME("l"), 0, KAL_INFO_ALL, &named) == kal_ok && memcmp(&named, &info, sizeof info) == 0);
    CHECK(kal_fs_info(top, NAME("l"), KAL_FS_NO_RESOLVE, KAL_INFO_ALL, &named) == kal_ok);
    CHECK(named.kind == kal_node_link && named.size == 1 && named.identity[1] != info.identity[1]);
    CHECK(kal_fs_info(top, NAME("."), 0, KAL_INFO_KIND, &named) == kal_ok && named.kind == kal_node_directory);
    CHECK(named.present == KAL_INFO_KIND);
    CHECK(kal_fs_info(top, NAME("d"), KAL_FS_NO_RESOLVE, KAL_INFO_WRITABLE, &named) == kal_ok);
    CHECK(named.present == KAL_INFO_WRITABLE && named.writable != 0);
    CHECK(kal_fs_info(root(), NAME("dev/null"), 0, KAL_INFO_ALL, &named) == kal_ok && named.kind == kal_node_other);
    CHECK(kal_fs_file_info(file, ~(kal_u32)0, &named) == kal_ok && named.present == KAL_INFO_ALL);
    CHECK(kal_fs_file_info(file, 0, &named) == kal_ok && named.present == 0);
    CHECK(kal_fs_info(top, NAME("none"), 0, KAL_INFO_SIZE, &named) == kal_ok && named.kind == kal_node_absent);
    CHECK(named.present == KAL_INFO_KIND);
    CHECK(kal_fs_info(top, NAME("d/none"), 0, KAL_INFO_ALL, &named) == kal_ok && named.kind == kal_node_absent);
    CHECK(kal_fs_info(top, NAME("none/f"), 0, KAL_INFO_ALL, &named) == kal_ok && named.kind == kal_node_absent);
    CHECK(kal_fs_info(top, NAME("f/none"), 0, KAL_INFO_ALL, &named) == kal_err_not_directory);
    CHECK(kal_fs_info(top, NAME("f"), 2, KAL_INFO_ALL, &named) == kal_err_invalid);
    CHECK(kal_fs_info(top, NAME("f"), 0, KAL_INFO_ALL, NULL) == kal_err_invalid);
    CHECK(kal_fs_file_info(file, KAL_INFO_ALL, NULL) == kal_err_invalid);
    CHECK(kal_fs_file_info((struct kal_file){top.h}, KAL_INFO_ALL, &named) == kal_err_invalid);
    no_more_is_known_than_fits(file);
    kal_fs_close_file(file);
    CHECK(unlink("f") == 0 && unlink("l") == 0 && rmdir("d") == 0);
}

/* Times far from now are kept where the file system keeps them, and those before 1970 are not known. */
static void times_of_change(void)
{
    static const kal_u64 times[] = {0, 1, SECOND - 1, (kal_u64)4102444800 * SECOND + 123456789, (kal_u64)INT64_MAX + 1};
    struct kal_file file = open_file("f", READ | KAL_OPEN_CREATE);
    struct kal_node_info info = {.self_size = sizeof info};
    struct timespec early[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = -1}};
    struct stat before, node;

    CHECK(symlink("f", "l") == 0 && stat("f", &before) == 0);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        CHECK(kal_fs_set_modified(file, times[i]) == kal_ok);
        CHECK(kal_fs_file_info(file, KAL_INFO_MODIFIED, &info) == kal_ok && info.modified_ns == times[i]);
        CHECK(kal_fs_set_modified(file, 5) == kal_ok && kal_fs_set_modified_at(top, NAME("l"), times[i]) == kal_ok);
        CHECK(stat("f", &node) == 0 && node.st_mtim.tv_sec == (time_t)(times[i] / SECOND));
        CHECK(node.st_mtim.tv_nsec == (long)(times[i] % SECOND) && node.st_atim.tv_sec == before.st_atim.tv_sec);
    }
    CHECK(lstat("l", &node) == 0 && node.st_mtim.tv_sec >= before.st_mtim.tv_sec); /* the link's own is untouched */
    CHECK(utimensat(AT_FDCWD, "f", early, 0) == 0);
    CHECK(kal_fs_file_info(file, KAL_INFO_ALL, &info) == kal_ok && info.present == (KAL_INFO_ALL & ~KAL_INFO_MODIFIED));
    CHECK(kal_fs_set_modified_at(top, NAME("."), SECOND) == kal_ok && stat(".", &node) == 0);
    CHECK(node.st_mtim.tv_sec == 1);
    CHECK(kal_fs_set_modified_at(top, NAME("none"), 1) == kal_err_not_found);
    CHECK(kal_fs_set_modified((struct kal_file){top.h}, 1) == kal_err_invalid);
    kal_fs_close_file(file);
    CHECK(unlink("f") == 0 && unlink("l") == 0);
}

/* Whatever is refused for want of descriptors is so with one value, and nothing is lost. */
static void descriptors_run_out(void)
{
    static struct kal_file files[64];
    struct kal_node_info info = {.self_size = sizeof info};
    struct kal_dir dir = {7};
    kal_uintptr iter = 7;
    struct rlimit limit;
    int count = 0, error, before = open_descriptors();

    put("f", "f");
    CHECK(mkdir("d", 0777) == 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){40, limit.rlim_max}) == 0);
    while ((error = kal_fs_open(top, NAME("f"), READ, &files[count])) == kal_ok)
        count++;
    CHECK(count > 0 && error == kal_err_no_memory);
    CHECK(kal_fs_open(top, NAME("d/new"), WRITE | KAL_OPEN_CREATE, &files[count]) == kal_err_no_memory);
    CHECK(kal_fs_open_dir(top, NAME("d"), &dir) == kal_err_no_memory && dir.h == 7);
    CHECK(kal_fs_list_begin(top, &iter) == kal_err_no_memory && iter == 7);
    CHECK(kal_fs_preopen(0, &dir, NULL, 0, &iter) == kal_err_no_memory && dir.h == 7 && iter == 7);
    CHECK(kal_fs_info(top, NAME("f"), 0, KAL_INFO_ALL, &info) == kal_ok);
    CHECK(kal_fs_mkdir(top, NAME("d/e")) == kal_err_no_memory);
    while (count != 0)
        kal_fs_close_file(files[--count]);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0 && open_descriptors() == before);
    CHECK(access("d/new", F_OK) != 0 && rmdir("d") == 0 && unlink("f") == 0);
}

static void run(void)
{
    top = fresh("files");
    flags_mean_something_together();
    a_file_is_opened_for_what_is_asked();
    other_things_than_files();
    positions_and_lengths();
    a_limit_is_no_space();
    what_is_asked_is_known();
    times_of_change();
    descriptors_run_out();
    leave(top);
    CHECK(rmdir("files") == 0);
}

int main(void)
{
    EVERY_WAY(run);
    return 0;
}
