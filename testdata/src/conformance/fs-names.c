/* What a name is, what it stands for, links and lists; the rest is in fs.c. */
#define INTERFACE "fs"
#include "place.h"

static struct kal_dir here, closed;
static struct kal_file file;

static int info_gives(const char* name, kal_uintptr flags, kal_u32 wanted, struct kal_node_info* info)
{
    info->self_size = sizeof *info;
    return kal_fs_info(here, NAME(name), flags, wanted, info);
}

/* Whether every function that takes a name says kal_err_invalid to this one. */
static int is_no_name(const char* name, kal_uintptr len)
{
    struct kal_node_info info = {.self_size = sizeof info};
    struct kal_file f;
    struct kal_dir d;

    return kal_fs_open(here, name, len, KAL_OPEN_WRITE | KAL_OPEN_CREATE, &f) == kal_err_invalid &&
           kal_fs_open_dir(here, name, len, &d) == kal_err_invalid &&
           kal_fs_info(here, name, len, 0, KAL_INFO_ALL, &info) == kal_err_invalid &&
           kal_fs_mkdir(here, name, len) == kal_err_invalid && kal_fs_remove(here, name, len) == kal_err_invalid &&
           kal_fs_rename(here, name, len, here, NAME("free")) == kal_err_invalid &&
           kal_fs_rename(here, NAME("plain"), here, name, len) == kal_err_invalid &&
           kal_fs_set_modified_at(here, name, len, 0) == kal_err_invalid &&
           kal_fs_link_create(here, name, len, "x", 1, 0) == kal_err_invalid &&
           kal_fs_link_read(here, name, len, 0, 0) == -kal_err_invalid;
}

static void names(void)
{
    static char longest[257], deep[4097];
    const kal_uintptr most = kal_fs_max_name();
    int found;

    CHECK(kal_fs_max_name, "is above 0", most > 0);
    CHECK(kal_fs_info, "an empty name is none", is_no_name("", 0));
    CHECK(kal_fs_info, "a null name is none", is_no_name(0, 1));
    CHECK(kal_fs_info, "a leading slash is no name", is_no_name(NAME("/")) && is_no_name(NAME("/plain")));
    CHECK(kal_fs_info, "a slash at the end is no name", is_no_name(NAME("below/")));
    CHECK(kal_fs_info, "an empty component is no name", is_no_name(NAME("below//x")));
    CHECK(kal_fs_info, ".. is no component",
          is_no_name(NAME("..")) && is_no_name(NAME("below/..")) && is_no_name(NAME("below/../plain")));
    CHECK(kal_fs_info, ". is no component of several", is_no_name(NAME("./plain")) && is_no_name(NAME("below/.")));
    CHECK(kal_fs_info, "a NUL is in no name", is_no_name("pl\0in", 5));
    CHECK(kal_fs_info, "a length of more than half the address space is no name", is_no_name("plain", TOO_LONG));
    __builtin_memset(longest, 'n', sizeof longest);
    found = most < sizeof longest && kal_fs_mkdir(here, longest, most) == kal_ok &&
            kal_fs_remove(here, longest, most) == kal_ok;
    CHECK(kal_fs_max_name, "a component of that length is a name", found);
    CHECK(kal_fs_max_name, "a longer component is none", most < sizeof longest && is_no_name(longest, most + 1));
    CHECK(kal_fs_mkdir, "any other bytes are a name",
          kal_fs_mkdir(here, NAME("\x01 \\:\xff...")) == kal_ok &&
              kal_fs_remove(here, NAME("\x01 \\:\xff...")) == kal_ok);
    for (kal_uintptr i = 0; i < sizeof deep; i++)
        deep[i] = i % 2 ? '/' : 'd';
    found = 1;
    for (kal_uintptr n = 1; n <= 101; n += 2)
        found &= kal_fs_mkdir(here, deep, n) == kal_ok;
    CHECK(kal_fs_mkdir, "fifty levels deep", found);
    for (kal_uintptr n = 103; n > 2; n -= 2)
        found &= kal_fs_remove(here, deep, n - 2) == kal_ok;
    CHECK(kal_fs_remove, "fifty levels deep", found);
    CHECK(kal_fs_open, "a name ends where its length says",
          (kal_fs_close_file(made(here, "ab", "")), kal_fs_remove(here, "abc", 2)) == kal_ok);
}

static void known(void)
{
    struct kal_node_info info = {.kind = -1}, other = {.kind = -1};

    CHECK(kal_fs_info, "a file",
          info_gives("plain", 0, KAL_INFO_ALL, &info) == kal_ok && info.kind == kal_node_file && info.size == 4 &&
              info.writable && (info.present & ~KAL_INFO_ALL) == 0);
    CHECK(kal_fs_info, "what is filled is said",
          (info.present & (KAL_INFO_KIND | KAL_INFO_SIZE)) == (KAL_INFO_KIND | KAL_INFO_SIZE));
    CHECK(kal_fs_info, "a directory",
          info_gives("below", 0, KAL_INFO_ALL, &other) == kal_ok && other.kind == kal_node_directory);
    CHECK(kal_fs_info, ". is the base itself",
          info_gives(".", 0, KAL_INFO_ALL, &other) == kal_ok && other.kind == kal_node_directory);
    CHECK(kal_fs_info, "an absent name is kal_ok and absent",
          info_gives("absent", 0, KAL_INFO_ALL, &other) == kal_ok && other.kind == kal_node_absent &&
              info_gives("absent/x", 0, KAL_INFO_ALL, &other) == kal_ok && other.kind == kal_node_absent);
    CHECK(kal_fs_info, "below a file is kal_err_not_directory",
          info_gives("plain/x", 0, KAL_INFO_ALL, &other) == kal_err_not_directory);
    other = (struct kal_node_info){.self_size = 8, .size = UNTOUCHED, .kind = -1};
    CHECK(kal_fs_info, "no more than self_size bytes are written",
          kal_fs_info(here, NAME("plain"), 0, KAL_INFO_ALL, &other) == kal_ok && other.present == 0 &&
              other.size == UNTOUCHED && other.kind == -1);
    other = (struct kal_node_info){.size = UNTOUCHED, .kind = -1};
    CHECK(kal_fs_info, "what is not wanted need not be known",
          info_gives("plain", 0, KAL_INFO_KIND, &other) == kal_ok && other.kind == kal_node_file &&
              (other.present & KAL_INFO_KIND));
    other = (struct kal_node_info){.self_size = 4, .present = 77};
    CHECK(kal_fs_info, "a self_size that is too small is kal_err_invalid",
          kal_fs_info(here, NAME("plain"), 0, KAL_INFO_ALL, &other) == kal_err_invalid && other.present == 77);
    CHECK(kal_fs_info, "unknown flags are kal_err_invalid",
          info_gives("plain", 2, KAL_INFO_ALL, &other) == kal_err_invalid);
    CHECK(kal_fs_info, "wanted bits that are unknown are not present",
          info_gives("plain", 0, ~(kal_u32)0, &other) == kal_ok && (other.present & ~KAL_INFO_ALL) == 0);
    CHECK(kal_fs_info, "a null out-pointer is kal_err_invalid",
          kal_fs_info(here, NAME("plain"), 0, KAL_INFO_ALL, 0) == kal_err_invalid);
    REFUSES(kal_fs_info, closed.h, file.h,
            kal_fs_info((struct kal_dir){word}, NAME("plain"), 0, KAL_INFO_ALL, &info) == kal_err_invalid);
    other = (struct kal_node_info){.self_size = sizeof other};
    CHECK(kal_fs_file_info, "is that of its name",
          kal_fs_file_info(file, KAL_INFO_ALL, &other) == kal_ok &&
              info_gives("plain", 0, KAL_INFO_ALL, &info) == kal_ok && other.kind == kal_node_file && other.size == 4 &&
              other.present == info.present && other.modified_ns == info.modified_ns &&
              same(other.identity, info.identity, 16));
    other = (struct kal_node_info){.self_size = 16, .modified_ns = UNTOUCHED};
    CHECK(kal_fs_file_info, "no more than self_size bytes are written",
          kal_fs_file_info(file, KAL_INFO_ALL, &other) == kal_ok && other.present == KAL_INFO_SIZE &&
              other.modified_ns == UNTOUCHED);
    other.self_size = 7;
    CHECK(kal_fs_file_info, "a self_size that is too small is kal_err_invalid",
          kal_fs_file_info(file, KAL_INFO_ALL, &other) == kal_err_invalid);
    CHECK(kal_fs_file_info, "a null out-pointer is kal_err_invalid",
          kal_fs_file_info(file, KAL_INFO_ALL, 0) == kal_err_invalid);
    REFUSES(kal_fs_file_info, closed.h, here.h,
            kal_fs_file_info((struct kal_file){word}, KAL_INFO_ALL, &info) == kal_err_invalid);
}

static void come_and_go(void)
{
    CHECK(kal_fs_mkdir, "makes a directory",
          kal_fs_mkdir(here, NAME("made")) == kal_ok && kind_of(here, "made") == kal_node_directory);
    CHECK(kal_fs_mkdir, "one that is there is kal_err_exists",
          kal_fs_mkdir(here, NAME("made")) == kal_err_exists && kal_fs_mkdir(here, NAME("plain")) == kal_err_exists &&
              kal_fs_mkdir(here, ".", 1) == kal_err_exists);
    CHECK(kal_fs_mkdir, "in an absent one is kal_err_not_found",
          kal_fs_mkdir(here, NAME("absent/x")) == kal_err_not_found);
    CHECK(kal_fs_mkdir, "in a file is kal_err_not_directory",
          kal_fs_mkdir(here, NAME("plain/x")) == kal_err_not_directory);
    REFUSES(kal_fs_mkdir, closed.h, file.h, kal_fs_mkdir((struct kal_dir){word}, NAME("odd")) == kal_err_invalid);
    kal_fs_close_file(made(here, "made/full", ""));
    CHECK(kal_fs_remove, "one with entries is kal_err_not_empty",
          kal_fs_remove(here, NAME("made")) == kal_err_not_empty);
    CHECK(kal_fs_remove, "an absent one is kal_err_not_found",
          kal_fs_remove(here, NAME("absent")) == kal_err_not_found);
    CHECK(kal_fs_remove, "in a file is kal_err_not_directory",
          kal_fs_remove(here, NAME("plain/x")) == kal_err_not_directory);
    CHECK(kal_fs_remove, "the base itself is kal_err_invalid", kal_fs_remove(here, ".", 1) == kal_err_invalid);
    CHECK(kal_fs_remove, "a file and an empty directory",
          kal_fs_remove(here, NAME("made/full")) == kal_ok && kal_fs_remove(here, NAME("made")) == kal_ok &&
              kind_of(here, "made") == kal_node_absent);
    REFUSES(kal_fs_remove, closed.h, file.h, kal_fs_remove((struct kal_dir){word}, NAME("plain")) == kal_err_invalid);
    kal_fs_mkdir(here, NAME("a"));
    kal_fs_mkdir(here, NAME("b"));
    kal_fs_close_file(made(here, "f", "1"));
    kal_fs_close_file(made(here, "g", "22"));
    CHECK(kal_fs_rename, "a file takes a file's place",
          kal_fs_rename(here, NAME("f"), here, NAME("g")) == kal_ok && kind_of(here, "f") == kal_node_absent);
    CHECK(kal_fs_rename, "a directory takes an empty one's place",
          kal_fs_rename(here, NAME("a"), here, NAME("b")) == kal_ok && kind_of(here, "a") == kal_node_absent);
    CHECK(kal_fs_rename, "a file for a directory is kal_err_is_directory",
          kal_fs_rename(here, NAME("g"), here, NAME("b")) == kal_err_is_directory);
    CHECK(kal_fs_rename, "a directory for a file is kal_err_not_directory",
          kal_fs_rename(here, NAME("b"), here, NAME("g")) == kal_err_not_directory);
    kal_fs_mkdir(here, NAME("c"));
    CHECK(kal_fs_rename, "into another directory",
          kal_fs_rename(here, NAME("g"), here, NAME("c/g")) == kal_ok && kind_of(here, "c/g") == kal_node_file);
    CHECK(kal_fs_rename, "for one with entries is kal_err_not_empty",
          kal_fs_rename(here, NAME("b"), here, NAME("c")) == kal_err_not_empty);
    CHECK(kal_fs_rename, "into itself is kal_err_invalid",
          kal_fs_rename(here, NAME("c"), here, NAME("c/d")) == kal_err_invalid);
    CHECK(kal_fs_rename, "an absent one is kal_err_not_found",
          kal_fs_rename(here, NAME("absent"), here, NAME("g")) == kal_err_not_found);
    CHECK(kal_fs_rename, "the base itself is kal_err_invalid",
          kal_fs_rename(here, ".", 1, here, NAME("g")) == kal_err_invalid &&
              kal_fs_rename(here, NAME("b"), here, ".", 1) == kal_err_invalid);
    REFUSES(kal_fs_rename, closed.h, file.h,
            kal_fs_rename((struct kal_dir){word}, NAME("b"), here, NAME("e")) == kal_err_invalid &&
                kal_fs_rename(here, NAME("b"), (struct kal_dir){word}, NAME("e")) == kal_err_invalid);
    kal_fs_remove(here, NAME("c/g"));
    kal_fs_remove(here, NAME("c"));
    kal_fs_remove(here, NAME("b"));
}

static void times(void)
{
    const kal_u64 then = 1000000000 * SECOND;
    struct kal_node_info info = {.kind = -1};
    struct kal_node_info no_time = {.kind = -1};

    if ((kal_fs_props(here) & KAL_FS_PROP_MODIFIED_TIME) == 0) {
        UNOBSERVED(kal_fs_set_modified, "sets the time");
        UNOBSERVED(kal_fs_set_modified_at, "sets the time");
    } else {
        CHECK(kal_fs_set_modified, "sets the time",
              kal_fs_set_modified(file, then) == kal_ok && info_gives("plain", 0, KAL_INFO_MODIFIED, &info) == kal_ok &&
                  info.modified_ns == then);
        CHECK(kal_fs_set_modified_at, "sets the time",
              kal_fs_set_modified_at(here, NAME("plain"), 2 * then) == kal_ok &&
                  info_gives("plain", 0, KAL_INFO_MODIFIED, &info) == kal_ok && info.modified_ns == 2 * then);
        CHECK(kal_fs_set_modified_at, "of a directory",
              kal_fs_set_modified_at(here, NAME("below"), then) == kal_ok &&
                  info_gives("below", 0, KAL_INFO_MODIFIED, &no_time) == kal_ok && no_time.modified_ns == then);
    }
    CHECK(kal_fs_set_modified_at, "an absent one is kal_err_not_found",
          kal_fs_set_modified_at(here, NAME("absent"), then) == kal_err_not_found);
    CHECK(kal_fs_set_modified_at, "below a file is kal_err_not_directory",
          kal_fs_set_modified_at(here, NAME("plain/x"), then) == kal_err_not_directory);
    REFUSES(kal_fs_set_modified, closed.h, here.h,
            kal_fs_set_modified((struct kal_file){word}, then) == kal_err_invalid);
    REFUSES(kal_fs_set_modified_at, closed.h, file.h,
            kal_fs_set_modified_at((struct kal_dir){word}, NAME("plain"), then) == kal_err_invalid);
}

static void links(void)
{
    struct kal_node_info info = {.kind = -1};
    static char long_text[4096];
    struct kal_file f;
    char room[8];

    __builtin_memset(long_text, 'x', sizeof long_text);
    if ((kal_fs_props(here) & KAL_FS_PROP_MAKE_LINKS) == 0) {
        UNOBSERVED(kal_fs_link_create, "makes a link");
        UNOBSERVED(kal_fs_link_read, "gives what the link says");
        return;
    }
    CHECK(kal_fs_link_create, "makes a link",
          kal_fs_link_create(here, NAME("link"), NAME("plain"), 0) == kal_ok && kind_of(here, "link") == kal_node_link);
    CHECK(kal_fs_link_create, "what it says is not looked at",
          kal_fs_link_create(here, NAME("loose"), NAME("absent"), 0) == kal_ok &&
              kal_fs_link_create(here, NAME("out"), NAME("../../x"), 0) == kal_ok);
    CHECK(kal_fs_link_create, "to a directory",
          kal_fs_link_create(here, NAME("leads"), NAME("below"), KAL_FS_LINK_DIRECTORY) == kal_ok &&
              kal_fs_set_modified_at(here, NAME("leads"), 5) == kal_ok);
    CHECK(kal_fs_link_create, "one that is there is kal_err_exists",
          kal_fs_link_create(here, NAME("plain"), NAME("x"), 0) == kal_err_exists);
    CHECK(kal_fs_link_create, "in an absent directory is kal_err_not_found",
          kal_fs_link_create(here, NAME("absent/l"), NAME("x"), 0) == kal_err_not_found);
    CHECK(kal_fs_link_create, "a text of no bytes, a null one and one with a NUL are kal_err_invalid",
          kal_fs_link_create(here, NAME("odd"), "", 0, 0) == kal_err_invalid &&
              kal_fs_link_create(here, NAME("odd"), 0, 1, 0) == kal_err_invalid &&
              kal_fs_link_create(here, NAME("odd"), "a\0b", 3, 0) == kal_err_invalid);
    CHECK(kal_fs_link_create, "unknown flags are kal_err_invalid, and nothing is made",
          kal_fs_link_create(here, NAME("odd"), NAME("x"), 2) == kal_err_invalid &&
              kind_of(here, "odd") == kal_node_absent);
    REFUSES(kal_fs_link_create, closed.h, file.h,
            kal_fs_link_create((struct kal_dir){word}, NAME("odd"), NAME("x"), 0) == kal_err_invalid);
    GIVES_TEXT(kal_fs_link_read, "plain", kal_fs_link_read(here, NAME("link"), out, cap));
    CHECK(kal_fs_link_read, "what is no link is kal_err_invalid",
          kal_fs_link_read(here, NAME("plain"), room, 8) == -kal_err_invalid &&
              kal_fs_link_read(here, NAME("below"), room, 8) == -kal_err_invalid);
    CHECK(kal_fs_link_read, "an absent one is kal_err_not_found",
          kal_fs_link_read(here, NAME("absent"), room, 8) == -kal_err_not_found);
    CHECK(kal_fs_link_read, "a null buffer with a capacity is kal_err_invalid",
          kal_fs_link_read(here, NAME("link"), 0, 8) == -kal_err_invalid);
    REFUSES(kal_fs_link_read, closed.h, file.h,
            kal_fs_link_read((struct kal_dir){word}, NAME("link"), room, 8) == -kal_err_invalid);
    CHECK(kal_fs_info, "resolves a link",
          info_gives("link", 0, KAL_INFO_ALL, &info) == kal_ok && info.kind == kal_node_file && info.size == 4);
    CHECK(kal_fs_info, "NO_RESOLVE does not",
          info_gives("link", KAL_FS_NO_RESOLVE, KAL_INFO_ALL, &info) == kal_ok && info.kind == kal_node_link);
    CHECK(kal_fs_info, "a link that leads nowhere is absent",
          info_gives("loose", 0, KAL_INFO_ALL, &info) == kal_ok && info.kind == kal_node_absent);
    CHECK(kal_fs_info, "a link out of the base is kal_err_permission",
          info_gives("out", 0, KAL_INFO_ALL, &info) == kal_err_permission);
    kal_fs_link_create(here, NAME("root"), NAME("/"), 0);
    kal_fs_link_create(here, NAME("around"), NAME("../work/plain"), 0);
    kal_fs_link_create(here, NAME("circle"), NAME("circle"), 0);
    CHECK(kal_fs_info, "an absolute link is kal_err_permission",
          info_gives("root", 0, KAL_INFO_ALL, &info) == kal_err_permission);
    CHECK(kal_fs_info, "a link out of the base is, also where it would come back",
          info_gives("around", 0, KAL_INFO_ALL, &info) == kal_err_permission);
    CHECK(kal_fs_info, "a link in a circle is absent",
          info_gives("circle", 0, KAL_INFO_ALL, &info) == kal_ok && info.kind == kal_node_absent);
    CHECK(kal_fs_open, "a link in a circle is kal_err_not_found",
          kal_fs_open(here, NAME("circle"), KAL_OPEN_READ, &f) == kal_err_not_found);
    CHECK(kal_fs_link_create, "a text of 4,095 bytes",
          kal_fs_link_create(here, NAME("far"), long_text, 4095, 0) == kal_ok &&
              kal_fs_link_read(here, NAME("far"), room, 8) == 4095);
    CHECK(kal_fs_link_create, "a text of 4,096 bytes is kal_err_invalid",
          kal_fs_link_create(here, NAME("farther"), long_text, 4096, 0) == kal_err_invalid);
    CHECK(kal_fs_open, "resolves a link",
          kal_fs_open(here, NAME("link"), KAL_OPEN_READ, &f) == kal_ok && length_of(f) == 4);
    kal_fs_close_file(f);
    CHECK(kal_fs_open, "a link out of the base is kal_err_permission",
          kal_fs_open(here, NAME("out"), KAL_OPEN_READ, &f) == kal_err_permission);
    CHECK(kal_fs_open, "EXCLUSIVE does not resolve a link",
          kal_fs_open(here, NAME("loose"), KAL_OPEN_WRITE | KAL_OPEN_CREATE | KAL_OPEN_EXCLUSIVE, &f) ==
              kal_err_exists);
    CHECK(kal_fs_remove, "removes a link, not what it leads to",
          kal_fs_remove(here, NAME("link")) == kal_ok && kind_of(here, "plain") == kal_node_file);
}

/* What a list of a directory with a file "f", a directory "d" and a link "l" says: bits 1, 2, 4; 8 for any other. */
static unsigned listed(struct kal_dir dir, kal_uintptr iter, int* calls)
{
    static const char letters[] = "fdl";
    static const int kinds[] = {kal_node_file, kal_node_directory, kal_node_link};
    unsigned found = 0;
    kal_uintptr length;
    char name[4];
    int kind;

    for (*calls = 0; kal_fs_list_next(dir, &iter, name, sizeof name, &length, &kind) == kal_ok && iter; ++*calls)
        for (int i = 0; i < 4; i++)
            if (i == 3 || (length == 1 && name[0] == letters[i] && kind == kinds[i])) {
                found |= 1u << i;
                break;
            }
    return iter ? 8 : found;
}

static void lists(void)
{
    struct kal_dir dir, other;
    kal_uintptr iter = UNTOUCHED, second = 0, length = UNTOUCHED;
    int calls, kind = -1;
    char name[300];

    kal_fs_mkdir(here, NAME("list"));
    kal_fs_open_dir(here, NAME("list"), &dir);
    kal_fs_open_dir(here, NAME("below"), &other);
    CHECK(kal_fs_list_begin, "of an empty directory ends at once",
          kal_fs_list_begin(dir, &iter) == kal_ok && iter != 0 &&
              kal_fs_list_next(dir, &iter, name, 300, &length, &kind) == kal_ok && iter == 0 && length == UNTOUCHED &&
              kind == -1);
    kal_fs_mkdir(dir, NAME("d"));
    kal_fs_close_file(made(dir, "f", "x"));
    kal_fs_link_create(dir, NAME("l"), NAME("d"), 0);
    CHECK(kal_fs_list_begin, "lists each entry once, with its own kind",
          kal_fs_list_begin(dir, &iter) == kal_ok && listed(dir, iter, &calls) == 7 && calls == 3);
    CHECK(kal_fs_list_begin, "as often as one likes",
          kal_fs_list_begin(dir, &iter) == kal_ok && listed(dir, iter, &calls) == 7 && calls == 3);
    CHECK(kal_fs_list_begin, "a null out-pointer is kal_err_invalid", kal_fs_list_begin(dir, 0) == kal_err_invalid);
    REFUSES(kal_fs_list_begin, closed.h, file.h, kal_fs_list_begin((struct kal_dir){word}, &iter) == kal_err_invalid);
    kal_fs_remove(dir, NAME("l"));
    kal_fs_remove(dir, NAME("d"));
    kal_fs_rename(dir, NAME("f"), dir, NAME("a long name"));
#define NEXT(out, cap)                                                                                                 \
    (kal_fs_list_begin(dir, &iter) == kal_ok && kal_fs_list_next(dir, &iter, out, cap, &length, &kind) == kal_ok       \
         ? (kal_intptr)length                                                                                          \
         : -1)
    GIVES_TEXT(kal_fs_list_next, "a long name", NEXT(out, cap));
    CHECK(kal_fs_list_next, "a name that did not fit is passed",
          NEXT(name, 1) == 11 && kal_fs_list_next(dir, &iter, name, 300, &length, &kind) == kal_ok && iter == 0);
    CHECK(kal_fs_list_next, "an iter of 0 is kal_err_invalid",
          kal_fs_list_next(dir, &iter, name, 300, &length, &kind) == kal_err_invalid);
    kal_fs_list_begin(dir, &iter);
    CHECK(kal_fs_list_next, "an iter of another directory is kal_err_invalid",
          kal_fs_list_next(other, &iter, name, 300, &length, &kind) == kal_err_invalid);
    CHECK(kal_fs_list_next, "null pointers are kal_err_invalid",
          kal_fs_list_next(dir, 0, name, 300, &length, &kind) == kal_err_invalid &&
              kal_fs_list_next(dir, &iter, 0, 3, &length, &kind) == kal_err_invalid &&
              kal_fs_list_next(dir, &iter, name, 300, 0, &kind) == kal_err_invalid &&
              kal_fs_list_next(dir, &iter, name, 300, &length, 0) == kal_err_invalid);
    CHECK(kal_fs_list_next, "a refusal takes no entry",
          kal_fs_list_next(dir, &iter, name, 300, &length, &kind) == kal_ok && iter != 0 && length == 11);
    REFUSES(kal_fs_list_next, closed.h, file.h,
            kal_fs_list_next((struct kal_dir){word}, &iter, name, 300, &length, &kind) == kal_err_invalid);
    kal_fs_list_begin(dir, &iter);
    kal_fs_list_begin(dir, &second);
    CHECK(kal_fs_list_begin, "two at once",
          second != iter && kal_fs_list_next(dir, &iter, name, 300, &length, &kind) == kal_ok && iter &&
              kal_fs_list_next(dir, &second, name, 300, &length, &kind) == kal_ok && second);
    kal_fs_close_dir(dir);
    kal_fs_open_dir(here, NAME("list"), &dir);
    CHECK(kal_fs_list_next, "a list ends with the close of its directory",
          kal_fs_list_next(dir, &iter, name, 300, &length, &kind) == kal_err_invalid);
    kal_fs_close_dir(dir);
    kal_fs_close_dir(other);
}

int main(void)
{
    here = place();
    kal_fs_mkdir(here, NAME("below"));
    kal_fs_open_dir(here, NAME("below"), &closed);
    kal_fs_close_dir(closed);
    file = made(here, "plain", "text");
    names();
    known();
    come_and_go();
    times();
    links();
    lists();
    return summary();
}
