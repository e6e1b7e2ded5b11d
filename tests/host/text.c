/* Text: the few conversions, cutting, and what a name from a file can never do to a terminal. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "good_plan.h"

#define CHECK_TEXT(want, ...)                                                                                          \
    do {                                                                                                               \
        char out[128];                                                                                                 \
        size_t n = host_format(out, sizeof out, __VA_ARGS__);                                                          \
        CHECK(strcmp(out, want) == 0 && n == strlen(want));                                                            \
    } while (0)

static void conversions_are_those_of_printf(void)
{
    CHECK_TEXT("a 0 -2147483648 4294967295", "a %d %d %u", 0, -2147483647 - 1, 4294967295u);
    CHECK_TEXT("ff 0xff 0x0", "%x %#x %#x", 255, 255, 0);
    CHECK_TEXT("18446744073709551615 0xffffffffffffffff", "%lu %#lx", UINT64_MAX, UINT64_MAX);
    CHECK_TEXT("1 2 3", "%zu %llu %lu", (size_t)1, 2ull, 3ul);
    CHECK_TEXT("100%", "100%%");
}

static void text_is_cut_to_its_room(void)
{
    char out[4] = {1, 1, 1, 1};

    CHECK(host_format(out, 3, "%s", "abcdef") == 2 && strcmp(out, "ab") == 0 && out[3] == 1);
    CHECK(host_format(out, 0, "%s", "abc") == 0 && out[0] == 'a');
}

/* Control characters of C0 and C1, DEL, and every byte that is not UTF-8 by RFC 3629. */
static void what_is_not_text_is_escaped(void)
{
    CHECK_TEXT("\\x1b[2J\\x0a\\x7f", "%s", "\x1b[2J\n\x7f");
    CHECK_TEXT("\\xc2\\x9b", "%s", "\xc2\x9b");
    CHECK_TEXT("\xc2\xa0 \xc3\xa9", "%s", "\xc2\xa0 \xc3\xa9");
    CHECK_TEXT("\xe2\x82\xac \xf0\x9f\x98\x80", "%s", "\xe2\x82\xac \xf0\x9f\x98\x80");
    CHECK_TEXT("\\x80 \\xff", "%s", "\x80 \xff");
    CHECK_TEXT("\\xc0\\xaf", "%s", "\xc0\xaf");
    CHECK_TEXT("\\xe0\\x80\\xaf", "%s", "\xe0\x80\xaf");
    CHECK_TEXT("\\xed\\xa0\\x80", "%s", "\xed\xa0\x80");
    CHECK_TEXT("\\xf4\\x90\\x80\\x80", "%s", "\xf4\x90\x80\x80");
    CHECK_TEXT("\\xe2\\x82", "%s", "\xe2\x82");
    CHECK_TEXT("\\xf0\\x9f\\x98!", "%s", "\xf0\x9f\x98!");
}

static void refusal_is_false_and_keeps_its_reason(void)
{
    struct refusal why;

    CHECK(!refuse(&why, "what (got %#x) [%s]", 16, "RUN-3"));
    CHECK(strcmp(why.text, "what (got 0x10) [RUN-3]") == 0);
}

/* With the standard streams closed the system would hand out their numbers first. */
static void opened_files_are_no_standard_streams(void)
{
    int copies[3], fd;

    for (int i = 0; i < 3; i++) {
        copies[i] = fcntl(i, F_DUPFD, 10);
        close(i);
    }
    fd = host_open(AT_FDCWD, "/", O_RDONLY, 0);
    for (int i = 0; i < 3; i++) {
        int closed = fcntl(i, F_GETFD);

        dup2(copies[i], i);
        CHECK(closed == -1);
    }
    CHECK(fd >= 3 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    CHECK(host_open(AT_FDCWD, "/no/such", O_RDONLY, 0) == -1);
}

int main(void)
{
    conversions_are_those_of_printf();
    text_is_cut_to_its_room();
    what_is_not_text_is_escaped();
    refusal_is_false_and_keeps_its_reason();
    opened_files_are_no_standard_streams();
    return 0;
}
