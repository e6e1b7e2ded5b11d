/* The blocks of a book, by the places that allocated them, for DHAT's viewer.
 *
 * A frame is a return address; what is written is the address before it, which is in the call, as valgrind does. Every
 * frame is written once, and points name frames by their number, 0 being the root of all. */
#include "dhat.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "code.h"
#include "frames.h"
#include "json.h"
#include "report_file.h"

#define WRITE_TO ".dhat-heap-%s.part"
#define RENAME_TO "dhat-heap-%s.json"
#define FIRST_ROOM ((size_t)1 << 10)
#define SHORT_US 10u /* blocks that live no longer are short-lived to the viewer */
#define MOST_COMMAND 4096u
#define MOST_NAME 4096u

/* Addresses in the order in which they were first met, and where in it each is: a hash table of positions from 1 on. */
struct frames {
    uint64_t *addresses; /* room / 2 of them */
    uint32_t *positions; /* room, a power of two */
    size_t count, room;
};

static void *map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* Where the position of an address is, or would be. */
static uint32_t *find(const struct frames *frames, uint64_t address)
{
    size_t i = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    for (;; i++) {
        uint32_t *position = &frames->positions[i & (frames->room - 1)];

        if (*position == 0 || frames->addresses[*position - 1] == address)
            return position;
    }
}

static void free_frames(struct frames *frames)
{
    if (frames->addresses != NULL)
        munmap(frames->addresses, frames->room / 2 * sizeof *frames->addresses);
    if (frames->positions != NULL)
        munmap(frames->positions, frames->room * sizeof *frames->positions);
}

/* Twice the room; false where there is no memory. */
static bool grow(struct frames *frames)
{
    struct frames more = {.room = frames->room != 0 ? 2 * frames->room : FIRST_ROOM};

    more.addresses = map(more.room / 2 * sizeof *more.addresses);
    more.positions = map(more.room * sizeof *more.positions);
    if (more.addresses == NULL || more.positions == NULL) {
        free_frames(&more);
        return false;
    }
    for (; more.count < frames->count; more.count++) {
        more.addresses[more.count] = frames->addresses[more.count];
        *find(&more, more.addresses[more.count]) = (uint32_t)more.count + 1;
    }
    free_frames(frames);
    *frames = more;
    return true;
}

/* The number of a frame in the file, 0 where there is no memory for it. */
static uint32_t number_of(struct frames *frames, uint64_t address)
{
    uint32_t *position;

    if (frames->count == frames->room / 2 && !grow(frames))
        return 0;
    position = find(frames, address);
    if (*position == 0) {
        frames->addresses[frames->count++] = address;
        *position = (uint32_t)frames->count;
    }
    return *position;
}

static void write_taken(struct json *json, const char *bytes, const char *blocks, struct taken taken)
{
    json_pair_number(json, bytes, taken.bytes);
    json_pair_number(json, blocks, taken.blocks);
}

/* The image's words, cut where they are very long. */
static void write_command(struct json *json)
{
    char command[MOST_COMMAND];
    size_t used = 0;

    for (int i = 0; i < host_image.argc; i++) {
        const char *word = host_image.argv[i];
        size_t length = strnlen(word, sizeof command);

        if (i > 0 && used < sizeof command)
            command[used++] = ' ';
        if (length > sizeof command - used)
            length = sizeof command - used;
        memcpy(command + used, word, length);
        used += length;
    }
    json_key(json, "cmd");
    json_string(json, command, used);
}

static uint64_t us(unsigned __int128 ticks)
{
    return (uint64_t)(ticks * host_clock.scale / 1000 >> 32);
}

static void write_head(struct json *json, const struct dhat *dhat)
{
    json_pair_number(json, "dhatFileVersion", 2);
    json_pair_text(json, "mode", "heap");
    json_pair_text(json, "verb", "Allocated");
    json_key(json, "bklt");
    json_boolean(json, true);
    json_key(json, "bkacc");
    json_boolean(json, false);
    json_pair_text(json, "tu", "\xc2\xb5s");
    json_pair_text(json, "Mtu", "s");
    json_pair_number(json, "tuth", SHORT_US);
    write_command(json);
    json_pair_number(json, "pid", (uint64_t)getpid());
    json_pair_number(json, "te", us(dhat->now - dhat->began));
    json_pair_number(json, "tg", dhat->book->peak_number != 0 ? us(dhat->book->peak_at - dhat->began) : 0);
}

static bool write_points(struct json *json, const struct dhat *dhat, struct frames *frames)
{
    json_key(json, "pps");
    json_begin(json, '[');
    for (const struct point *p = __atomic_load_n(&dhat->book->points, __ATOMIC_ACQUIRE); p != NULL;
         p = __atomic_load_n(&p->next, __ATOMIC_ACQUIRE)) {
        json_begin(json, '{');
        write_taken(json, "tb", "tbk", p->total);
        json_pair_number(json, "tl", us(book_ages(p, dhat->now)));
        write_taken(json, "mb", "mbk", p->most);
        write_taken(json, "gb", "gbk", book_at_peak(dhat->book, p));
        write_taken(json, "eb", "ebk", p->live);
        json_key(json, "fs");
        json_begin(json, '[');
        for (size_t i = 0; i < p->depth; i++) {
            uint32_t number = number_of(frames, p->pc[i]);

            if (number == 0)
                return false;
            json_number(json, number);
        }
        json_end(json, ']');
        json_end(json, '}');
    }
    json_end(json, ']');
    return true;
}

/* Ensures: the length of what is in text, as "0xADDR: function (image+0xADDR)" in link addresses, or as much as is known. */
static size_t describe(struct code *code, uint64_t address, char *text, size_t cap)
{
    static char name[MOST_NAME + 1] = "???";
    const char *image = host_image.plan->path, *slash = strrchr(image, '/');
    const struct code_range *range;
    uint64_t link;

    if (!in_image(address, &link))
        return host_format(text, cap, "%#lx: %s", address, !in_host(address)                  ? "???"
                                                           : implementation_has_code(address) ? "implementation"
                                                                                              : "okhost");
    range = code_find(code, link);
    if (range != NULL) {
        size_t length = code_name(code, range, name, MOST_NAME);

        name[length < MOST_NAME ? length : MOST_NAME] = 0;
    }
    return host_format(text, cap, "%#lx: %s (%s+%#lx)", link, range != NULL ? name : "???",
                       slash != NULL && slash[1] != 0 ? slash + 1 : image, link);
}

static void write_frames(struct json *json, const struct frames *frames)
{
    static struct code code;
    static char text[4 * MOST_NAME + 4 * NAME_MAX];
    const char *reason;

    (void)code_read(&code, host_image.plan, host_image.fd, &reason); /* without, addresses say as much as there is */
    json_key(json, "ftbl");
    json_begin(json, '[');
    json_string(json, "[root]", 6);
    for (size_t i = 0; i < frames->count; i++)
        json_string(json, text, describe(&code, frames->addresses[i] - 1, text, sizeof text));
    json_end(json, ']');
    code_free(&code);
}

static int write_file(int fd, const struct dhat *dhat)
{
    static struct json json; /* one a process, and a handler's stack is small */
    struct frames frames = {.count = 0};
    bool has_memory;

    json_start(&json, fd);
    json_begin(&json, '{');
    write_head(&json, dhat);
    has_memory = write_points(&json, dhat, &frames);
    write_frames(&json, &frames);
    free_frames(&frames);
    json_key(&json, "okprof");
    json_begin(&json, '{');
    json_pair_text(&json, "id", dhat->id);
    json_pair_number(&json, "untracked", dhat->book->untracked);
    json_key(&json, "whole");
    json_boolean(&json, dhat->is_whole);
    json_end(&json, '}');
    json_end(&json, '}');
    return !has_memory ? ENOMEM : json_finish(&json) ? 0 : json.error;
}

int dhat_write(const struct dhat *dhat, int directory, char name[DHAT_NAME])
{
    char part[DHAT_NAME];
    int fd, error;

    host_format(part, sizeof part, WRITE_TO, dhat->id);
    host_format(name, DHAT_NAME, RENAME_TO, dhat->id);
    fd = host_open(directory, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (fd < 0)
        return errno;
    error = write_file(fd, dhat);
    if (close(fd) != 0 && error == 0)
        error = errno;
    if (error == 0)
        error = report_file_rename(directory, part, name);
    if (error != 0)
        (void)unlinkat(directory, part, 0);
    return error;
}
