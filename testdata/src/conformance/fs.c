/* Directories, opening, positions, lengths, locks and the medium; names are in fs-names.c. */
#define INTERFACE "fs"
#include "place.h"

static struct kal_dir here;

static int open_gives(const char* name, kal_uintptr flags)
{
    struct kal_file file = {UNTOUCHED};
    int error = kal_fs_open(here, NAME(name), flags, &file);

    if (error == kal_ok)
        kal_fs_close_file(file);
    return error != kal_ok && file.h != UNTOUCHED ? -1 : error;
}

static void preopens(void)
{
    struct kal_dir a = {0}, b = {0};
    kal_uintptr length = UNTOUCHED;

    CHECK(kal_fs_preopen_count, "counts what was given", kal_fs_preopen_count() >= 1);
    CHECK(kal_fs_preopen, "gives a directory, another handle at every call",
          kal_fs_preopen(0, &a, 0, 0, &length) == kal_ok && kal_fs_preopen(0, &b, 0, 0, &length) == kal_ok && a.h &&
              a.h != b.h);
    kal_fs_close_dir(a);
    CHECK(kal_fs_preopen, "one is closed without the other", kal_fs_open_dir(b, ".", 1, &a) == kal_ok);
    kal_fs_close_dir(a);
    GIVES_TEXT(kal_fs_preopen, "work",
               (kal_fs_preopen(0, &a, out, cap, &length) == kal_ok ? (kal_fs_close_dir(a), (kal_intptr)length) : -1));
    a.h = length = UNTOUCHED;
    CHECK(kal_fs_preopen, "past the last is kal_err_not_found, and nothing is written",
          kal_fs_preopen(kal_fs_preopen_count(), &a, 0, 0, &length) == kal_err_not_found && a.h == UNTOUCHED &&
              length == UNTOUCHED);
    CHECK(kal_fs_preopen, "null out-pointers are kal_err_invalid",
          kal_fs_preopen(0, 0, 0, 0, &length) == kal_err_invalid && kal_fs_preopen(0, &a, 0, 0, 0) == kal_err_invalid &&
              kal_fs_preopen(0, &a, 0, 4, &length) == kal_err_invalid);
}

static void directories(void)
{
    struct kal_dir dir = {UNTOUCHED};
    struct kal_file file = made(here, "plain", "text");

    kal_fs_mkdir(here, NAME("below"));
    CHECK(kal_fs_open_dir, "an absent one is kal_err_not_found",
          kal_fs_open_dir(here, NAME("absent"), &dir) == kal_err_not_found);
    CHECK(kal_fs_open_dir, "a file is kal_err_not_directory",
          kal_fs_open_dir(here, NAME("plain"), &dir) == kal_err_not_directory &&
              kal_fs_open_dir(here, NAME("plain/x"), &dir) == kal_err_not_directory);
    CHECK(kal_fs_open_dir, "no name is kal_err_invalid",
          kal_fs_open_dir(here, NAME(".."), &dir) == kal_err_invalid &&
              kal_fs_open_dir(here, NAME("/"), &dir) == kal_err_invalid &&
              kal_fs_open_dir(here, "", 0, &dir) == kal_err_invalid &&
              kal_fs_open_dir(here, 0, 1, &dir) == kal_err_invalid);
    CHECK(kal_fs_open_dir, "a refusal leaves the out-pointer as it was", dir.h == UNTOUCHED);
    CHECK(kal_fs_open_dir, "a null out-pointer is kal_err_invalid",
          kal_fs_open_dir(here, ".", 1, 0) == kal_err_invalid);
    CHECK(kal_fs_open_dir, "opens one below",
          kal_fs_open_dir(here, NAME("below"), &dir) == kal_ok && dir.h != UNTOUCHED);
    CHECK(kal_fs_open_dir, "what is opened there is there",
          (kal_fs_close_file(made(dir, "x", "")), kind_of(here, "below/x")) == kal_node_file);
    kal_fs_close_dir(dir);
    REFUSES(kal_fs_open_dir, dir.h, file.h,
            kal_fs_open_dir((struct kal_dir){word}, ".", 1, &(struct kal_dir){0}) == kal_err_invalid);
    REFUSES(
        kal_fs_close_dir, dir.h, file.h,
        (kal_fs_close_dir((struct kal_dir){word}), kind_of(here, ".") == kal_node_directory && length_of(file) == 4));
    REFUSES(kal_fs_props, dir.h, file.h, kal_fs_props((struct kal_dir){word}) == 0);
    REFUSES(kal_fs_capacity, dir.h, file.h, kal_fs_capacity((struct kal_dir){word}, 0, 0) == kal_err_invalid);
    kal_fs_close_file(file);
}

static void opening(void)
{
    struct kal_file file = {UNTOUCHED};
    char room[8];

    CHECK(kal_fs_open, "an absent one is kal_err_not_found", open_gives("absent", KAL_OPEN_READ) == kal_err_not_found);
    CHECK(kal_fs_open, "a directory is kal_err_is_directory",
          open_gives("below", KAL_OPEN_READ) == kal_err_is_directory &&
              open_gives(".", KAL_OPEN_READ) == kal_err_is_directory &&
              open_gives("below", KAL_OPEN_WRITE) == kal_err_is_directory);
    CHECK(kal_fs_open, "below a file is kal_err_not_directory",
          open_gives("plain/x", KAL_OPEN_READ) == kal_err_not_directory);
    CHECK(kal_fs_open, "CREATE makes it",
          open_gives("new", KAL_OPEN_WRITE | KAL_OPEN_CREATE) == kal_ok && kind_of(here, "new") == kal_node_file);
    CHECK(kal_fs_open, "CREATE of one that is there opens it",
          open_gives("plain", KAL_OPEN_READ | KAL_OPEN_CREATE) == kal_ok);
    CHECK(kal_fs_open, "EXCLUSIVE of one that is there is kal_err_exists",
          open_gives("plain", KAL_OPEN_WRITE | KAL_OPEN_CREATE | KAL_OPEN_EXCLUSIVE) == kal_err_exists);
    CHECK(kal_fs_open, "EXCLUSIVE makes it",
          open_gives("own", KAL_OPEN_WRITE | KAL_OPEN_CREATE | KAL_OPEN_EXCLUSIVE) == kal_ok);
    CHECK(kal_fs_open, "neither READ nor WRITE is kal_err_invalid",
          open_gives("plain", 0) == kal_err_invalid && open_gives("plain", KAL_OPEN_CREATE) == kal_err_invalid);
    CHECK(kal_fs_open, "EXCLUSIVE without CREATE is kal_err_invalid",
          open_gives("plain", KAL_OPEN_WRITE | KAL_OPEN_EXCLUSIVE) == kal_err_invalid);
    CHECK(kal_fs_open, "TRUNCATE and APPEND without WRITE are kal_err_invalid",
          open_gives("plain", KAL_OPEN_READ | KAL_OPEN_TRUNCATE) == kal_err_invalid &&
              open_gives("plain", KAL_OPEN_READ | KAL_OPEN_APPEND) == kal_err_invalid);
    CHECK(kal_fs_open, "unknown bits are kal_err_invalid, and nothing is made",
          open_gives("odd", KAL_OPEN_WRITE | KAL_OPEN_CREATE | 64) == kal_err_invalid &&
              kind_of(here, "odd") == kal_node_absent);
    CHECK(kal_fs_open, "a null out-pointer is kal_err_invalid, and nothing is made",
          kal_fs_open(here, NAME("odd"), KAL_OPEN_WRITE | KAL_OPEN_CREATE, 0) == kal_err_invalid &&
              kind_of(here, "odd") == kal_node_absent);
    CHECK(kal_fs_open, "no name is kal_err_invalid",
          open_gives("../x", KAL_OPEN_READ) == kal_err_invalid && open_gives("/x", KAL_OPEN_READ) == kal_err_invalid);
    file = opened(here, "plain", KAL_OPEN_READ);
    CHECK(kal_fs_open, "READ alone cannot write", kal_stream_write(kal_fs_stream(file), "x", 1) == -kal_err_permission);
    CHECK(kal_fs_open, "READ reads", kal_stream_read(kal_fs_stream(file), room, 8) == 4 && same(room, "text", 4));
    REFUSES(kal_fs_open, (kal_fs_close_file(file), file.h), kal_stdin().h,
            kal_fs_open((struct kal_dir){word}, NAME("plain"), KAL_OPEN_READ, &(struct kal_file){0}) ==
                kal_err_invalid);
    file = opened(here, "plain", KAL_OPEN_WRITE | KAL_OPEN_APPEND);
    kal_fs_seek(file, 0, KAL_SEEK_SET, 0);
    kal_stream_write(kal_fs_stream(file), "more", 4);
    CHECK(kal_fs_open, "APPEND writes at the end", length_of(file) == 8);
    CHECK(kal_fs_open, "WRITE alone cannot read", kal_stream_read(kal_fs_stream(file), room, 8) == -kal_err_permission);
    kal_fs_close_file(file);
    file = opened(here, "plain", KAL_OPEN_WRITE | KAL_OPEN_TRUNCATE);
    CHECK(kal_fs_open, "TRUNCATE empties", length_of(file) == 0);
    kal_fs_close_file(file);
}

static void closing(void)
{
    struct kal_file file = made(here, "plain", "text"), other = opened(here, "plain", KAL_OPEN_READ);
    struct kal_stream stream = kal_fs_stream(file);

    CHECK(kal_fs_stream, "is no 0, and the file's own", stream.h != 0 && kal_fs_stream(other).h != stream.h);
    CHECK(kal_fs_stream, "is at the file's position",
          kal_fs_seek(file, 1, KAL_SEEK_SET, 0) == kal_ok && kal_stream_write(stream, "E", 1) == 1 &&
              length_of(file) == 4);
    kal_fs_close_file(file);
    CHECK(kal_fs_close_file, "ends its stream", kal_stream_write(stream, "x", 1) == -kal_err_invalid);
    CHECK(kal_fs_close_file, "leaves another of the same file", length_of(other) == 4);
    REFUSES(kal_fs_close_file, file.h, here.h,
            (kal_fs_close_file((struct kal_file){word}),
             length_of(other) == 4 && kind_of(here, ".") == kal_node_directory));
    REFUSES(kal_fs_stream, file.h, here.h, kal_fs_stream((struct kal_file){word}).h == 0);
    CHECK(kal_fs_close_file, "one whose name was removed is open until then",
          kal_fs_remove(here, NAME("plain")) == kal_ok && length_of(other) == 4);
    kal_fs_close_file(other);
}

static void positions(void)
{
    struct kal_file file = made(here, "plain", "0123456789"), closed = made(here, "new", "");
    const kal_i64 most = (kal_i64)(~(kal_u64)0 >> 1);
    kal_u64 at = UNTOUCHED;

    kal_fs_close_file(closed);
    CHECK(kal_fs_seek, "SET", kal_fs_seek(file, 3, KAL_SEEK_SET, &at) == kal_ok && at == 3);
    CHECK(kal_fs_seek, "CURRENT", kal_fs_seek(file, -1, KAL_SEEK_CURRENT, &at) == kal_ok && at == 2);
    CHECK(kal_fs_seek, "END", kal_fs_seek(file, -4, KAL_SEEK_END, &at) == kal_ok && at == 6);
    CHECK(kal_fs_seek, "the result may be null", kal_fs_seek(file, 5, KAL_SEEK_SET, 0) == kal_ok);
    at = UNTOUCHED;
    CHECK(kal_fs_seek, "below 0 is kal_err_invalid",
          kal_fs_seek(file, -1, KAL_SEEK_SET, &at) == kal_err_invalid &&
              kal_fs_seek(file, -6, KAL_SEEK_CURRENT, &at) == kal_err_invalid &&
              kal_fs_seek(file, -11, KAL_SEEK_END, &at) == kal_err_invalid);
    CHECK(kal_fs_seek, "past the largest position is kal_err_invalid",
          kal_fs_seek(file, most, KAL_SEEK_CURRENT, &at) == kal_err_invalid);
    CHECK(kal_fs_seek, "another whence is kal_err_invalid",
          kal_fs_seek(file, 0, 3, &at) == kal_err_invalid && kal_fs_seek(file, 0, -1, &at) == kal_err_invalid &&
              kal_fs_seek(file, 0, 4, &at) == kal_err_invalid);
    CHECK(kal_fs_seek, "a refusal leaves the result and the position",
          at == UNTOUCHED && kal_fs_seek(file, 0, KAL_SEEK_CURRENT, &at) == kal_ok && at == 5);
    REFUSES(kal_fs_seek, closed.h, here.h, kal_fs_seek((struct kal_file){word}, 0, KAL_SEEK_SET, 0) == kal_err_invalid);
    CHECK(kal_fs_truncate, "makes it shorter", kal_fs_truncate(file, 4) == kal_ok && length_of(file) == 4);
    CHECK(kal_fs_truncate, "leaves the position", kal_fs_seek(file, 0, KAL_SEEK_CURRENT, &at) == kal_ok && at == 5);
    CHECK(kal_fs_truncate, "makes it longer, reading 0",
          kal_fs_truncate(file, 100) == kal_ok && length_of(file) == 100 &&
              kal_fs_seek(file, 50, KAL_SEEK_SET, 0) == kal_ok && kal_stream_read(kal_fs_stream(file), &at, 8) == 8 &&
              at == 0);
    CHECK(kal_fs_truncate, "more than a file can be is kal_err_no_space",
          kal_fs_truncate(file, ~(kal_u64)0) == kal_err_no_space && length_of(file) == 100);
    REFUSES(kal_fs_truncate, closed.h, here.h, kal_fs_truncate((struct kal_file){word}, 0) == kal_err_invalid);
    kal_fs_close_file(file);
    file = opened(here, "plain", KAL_OPEN_READ);
    CHECK(kal_fs_truncate, "a file to read is kal_err_permission",
          kal_fs_truncate(file, 0) == kal_err_permission && length_of(file) == 100);
    kal_fs_close_file(file);
}

static int waited;

static void waits_for_lock(void* argument)
{
    waited = kal_fs_lock(*(struct kal_file*)argument, 0, 1, KAL_LOCK_SHARED | KAL_LOCK_WAIT);
}

static void locks(void)
{
    struct kal_file a = made(here, "plain", "0123456789"), b = opened(here, "plain", KAL_OPEN_READ | KAL_OPEN_WRITE),
                    reads = opened(here, "plain", KAL_OPEN_READ), writes = opened(here, "plain", KAL_OPEN_WRITE),
                    closed = opened(here, "plain", KAL_OPEN_READ);
    struct kal_task task;
    const kal_u64 far = (kal_u64)1 << 63;

    kal_fs_close_file(closed);
    CHECK(kal_fs_lock, "EXCLUSIVE keeps another out",
          kal_fs_lock(a, 0, 4, KAL_LOCK_EXCLUSIVE) == kal_ok &&
              kal_fs_lock(b, 3, 1, KAL_LOCK_EXCLUSIVE) == kal_err_again &&
              kal_fs_lock(b, 0, 1, KAL_LOCK_SHARED) == kal_err_again);
    CHECK(kal_fs_lock, "beside it there is room", kal_fs_lock(b, 4, 1, KAL_LOCK_EXCLUSIVE) == kal_ok);
    CHECK(kal_fs_lock, "a length of 0 is to the end",
          kal_fs_lock(a, 100, 0, KAL_LOCK_EXCLUSIVE) == kal_ok &&
              kal_fs_lock(b, 1 << 20, 1, KAL_LOCK_EXCLUSIVE) == kal_err_again);
    CHECK(kal_fs_lock, "SHARED goes with SHARED",
          kal_fs_lock(a, 50, 1, KAL_LOCK_SHARED) == kal_ok && kal_fs_lock(b, 50, 1, KAL_LOCK_SHARED) == kal_ok &&
              kal_fs_lock(b, 50, 1, KAL_LOCK_EXCLUSIVE) == kal_err_again);
    CHECK(kal_fs_lock, "WAIT of what is free does not wait",
          kal_fs_lock(a, 60, 1, KAL_LOCK_EXCLUSIVE | KAL_LOCK_WAIT) == kal_ok);
    CHECK(kal_fs_lock, "its own is no obstacle", kal_fs_lock(a, 60, 1, KAL_LOCK_SHARED) == kal_ok);
    CHECK(kal_fs_lock, "neither, both and unknown bits are kal_err_invalid",
          kal_fs_lock(a, 0, 1, 0) == kal_err_invalid && kal_fs_lock(a, 0, 1, KAL_LOCK_WAIT) == kal_err_invalid &&
              kal_fs_lock(a, 0, 1, KAL_LOCK_SHARED | KAL_LOCK_EXCLUSIVE) == kal_err_invalid &&
              kal_fs_lock(a, 0, 1, KAL_LOCK_SHARED | 8) == kal_err_invalid);
    CHECK(kal_fs_lock, "a range that no file has is kal_err_invalid",
          kal_fs_lock(a, far, 1, KAL_LOCK_SHARED) == kal_err_invalid &&
              kal_fs_lock(a, 1, far, KAL_LOCK_SHARED) == kal_err_invalid);
    CHECK(kal_fs_lock, "SHARED of what cannot be read is kal_err_permission",
          kal_fs_lock(writes, 70, 1, KAL_LOCK_SHARED) == kal_err_permission);
    CHECK(kal_fs_lock, "EXCLUSIVE of what cannot be written is kal_err_permission",
          kal_fs_lock(reads, 70, 1, KAL_LOCK_EXCLUSIVE) == kal_err_permission);
    REFUSES(kal_fs_lock, closed.h, here.h,
            kal_fs_lock((struct kal_file){word}, 0, 1, KAL_LOCK_SHARED) == kal_err_invalid);
    CHECK(kal_fs_unlock, "lets another in",
          kal_fs_unlock(a, 0, 4) == kal_ok && kal_fs_lock(b, 0, 4, KAL_LOCK_EXCLUSIVE) == kal_ok);
    CHECK(kal_fs_unlock, "what is not locked is kal_ok", kal_fs_unlock(a, 900, 4) == kal_ok);
    CHECK(kal_fs_unlock, "a range that no file has is kal_err_invalid",
          kal_fs_unlock(a, far, 1) == kal_err_invalid && kal_fs_unlock(a, 1, far) == kal_err_invalid);
    REFUSES(kal_fs_unlock, closed.h, here.h, kal_fs_unlock((struct kal_file){word}, 0, 1) == kal_err_invalid);
    kal_task_start(waits_for_lock, &reads, &task);
    CHECK(kal_fs_lock, "WAIT waits until another lets go",
          (kal_time_sleep(50 * MILLISECOND), kal_fs_unlock(b, 0, 4) == kal_ok) && kal_task_join(task) == kal_ok &&
              waited == kal_ok);
    kal_fs_unlock(reads, 0, 1);
    kal_fs_close_file(a);
    CHECK(kal_fs_lock, "ends with its open file", kal_fs_lock(b, 0, 0, KAL_LOCK_EXCLUSIVE) == kal_ok);
    kal_fs_close_file(b);
    kal_fs_close_file(reads);
    kal_fs_close_file(writes);
}

static void medium(void)
{
    const kal_uintptr assigned = 0x7f;
    kal_u64 total = 0, available = 0, again = 0;

    CHECK(kal_fs_props, "unassigned positions are 0", (kal_fs_props(here) & ~assigned) == 0);
    CHECK(kal_fs_props, "is the same at every call", kal_fs_props(here) == kal_fs_props(here));
    if ((kal_fs_props(here) & KAL_FS_PROP_CAPACITY) == 0) {
        UNOBSERVED(kal_fs_capacity, "no more is available than there is");
        return;
    }
    CHECK(kal_fs_capacity, "no more is available than there is",
          kal_fs_capacity(here, &total, &available) == kal_ok && total > 0 && available <= total);
    CHECK(kal_fs_capacity, "either may be null",
          kal_fs_capacity(here, &again, 0) == kal_ok && again == total &&
              kal_fs_capacity(here, 0, &available) == kal_ok && kal_fs_capacity(here, 0, 0) == kal_ok);
}

int main(void)
{
    here = place();
    preopens();
    directories();
    opening();
    closing();
    positions();
    locks();
    medium();
    return summary();
}
