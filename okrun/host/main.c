/* okhost PLAN_FD IMAGE [ARGUMENT...]: start the image that a plan describes, in this process.
 *
 * okrun checked the image and wrote the plan; from here to the image's entry is one straight line, and every step
 * either succeeds or ends the process with one line. */
#include <errno.h>
#include <limits.h>
#include <openkal/abort.h>
#include <openkal/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"
#include "implementation.h"
#include "load.h"
#include "measure.h"
#include "surface.gen.h"

#define MAX_PLAN ((off_t)64 << 20)

struct image host_image;

static void print_version(void)
{
    uint64_t v = kal_version();

    printf("okhost for openkal %u.%u.%u on %s\n", (unsigned)(v >> 32), (unsigned)(v >> 16 & 0xffff),
           (unsigned)(v & 0xffff), HOST_ARCH);
}

static void print_description(void)
{
    static const char *const names[] = {KAL_INTERFACE_NAMES};
    uint64_t v = kal_version(), word = kal_interfaces();
    const char *comma = "";

    printf("{\"version\":\"%u.%u.%u\",\"arch\":\"%s\",\"interfaces\":[", (unsigned)(v >> 32),
           (unsigned)(v >> 16 & 0xffff), (unsigned)(v & 0xffff), HOST_ARCH);
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((word >> i & 1) != 0) {
            printf("%s\"%s\"", comma, names[i]);
            comma = ",";
        }
    }
    printf("]}\n");
}

/* The number of an open file, 3 or above: the plan's must not be a standard stream (RUN-8). */
static int descriptor_of(const char *text)
{
    char *end;
    long fd = strtol(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != 0 || fd < 3 || fd > INT_MAX ||
        fcntl((int)fd, F_SETFD, FD_CLOEXEC) != 0)
        host_die(HOST_INTERNAL, "okhost is started by okrun, with the descriptor of a plan (got %s)", text);
    return (int)fd;
}

/* The bytes of a plan, in a file or, all of them, in a pipe that nobody writes to any more. */
static size_t size_of_plan(int fd, bool *is_pipe)
{
    struct stat file;
    int waiting;

    if (fstat(fd, &file) != 0)
        file = (struct stat){.st_size = 0};
    *is_pipe = S_ISFIFO(file.st_mode);
    if (*is_pipe && ioctl(fd, FIONREAD, &waiting) == 0)
        file.st_size = waiting;
    if (file.st_size <= 0 || file.st_size > MAX_PLAN)
        host_die(HOST_INTERNAL, "plan: not a file of 1 byte to 64 MiB [PLAN-2]");
    return (size_t)file.st_size;
}

/* A copy of the plan, so that whoever else holds its file cannot change what was checked. */
static void read_plan(int fd, struct plan *plan)
{
    struct refusal why;
    bool is_pipe;
    size_t size = size_of_plan(fd, &is_pipe), done = 0;
    uint8_t *bytes;

    bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        host_die(HOST_INTERNAL, "plan: no memory (got %#lx)", size);
    while (done < size) {
        void *to = bytes + done;
        ssize_t got = is_pipe ? read(fd, to, size - done) : pread(fd, to, size - done, (off_t)done);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            host_die(HOST_INTERNAL, "plan: cannot be read whole (got %#lx, limit %#lx) [PLAN-2]", done, size);
        done += (size_t)got;
    }
    close(fd);
    if (!plan_decode(bytes, size, plan, &why))
        host_die(HOST_INTERNAL, "%s", why.text);
    mprotect(bytes, size, PROT_READ); /* what a crash report relies on is out of reach of the crash */
}

/* What ps, perf and pkill show: the image's own name, not okhost's. */
static void name_process(const char *path)
{
    const char *slash = strrchr(path, '/');

    prctl(PR_SET_NAME, slash != NULL && slash[1] != 0 ? slash + 1 : path);
}

static int open_image(const struct plan *plan)
{
    int fd = (int)plan->header->file_fd;

    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        host_die(HOST_INTERNAL, "plan: its file is not open (got %d) [PLAN-2]", fd);
    if (!same_file(plan->header, fd))
        host_die(HOST_REFUSED, "%s: the file changed after it was checked: start it again [PLAN-3]", plan->path);
    return fd;
}

/* The directories that the image is given are not those of programs that it starts. */
static void keep_directories(const struct plan *plan)
{
    const char *fd = NULL, *name = NULL;

    if (plan_is_none(&plan->preopens))
        return;
    while ((fd = plan_next_word(&plan->preopens, name)) != NULL) {
        name = plan_next_word(&plan->preopens, fd);
        if (fcntl(atoi(fd), F_SETFD, FD_CLOEXEC) != 0)
            host_die(HOST_INTERNAL, "plan: a directory is not open (got %s) [PLAN-2]", fd);
    }
}

static void load(const struct plan *plan, struct image *image)
{
    uint64_t *values = NULL, size = plan->header->symbol_count * sizeof *values;
    struct refusal why;

    if (size != 0) {
        values = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (values == MAP_FAILED)
            host_die(HOST_REFUSED, "%s: no memory for its symbols (got %#lx) [BIND-3]", plan->path, size);
    }
    if (!bind_check(plan, &why) || !map_image(plan, image->fd, &image->base, &why) ||
        !bind_symbols(plan, image->base, values, &why) || !relocate(plan, image->base, values, &why) ||
        !map_relro(plan, image->base, &why) ||
        !map_stack(plan->header->stack, &host_stack.lo, &host_stack.hi, &why))
        host_die(HOST_REFUSED, "%s", why.text);
    if (size != 0)
        munmap(values, size);
}

/* A link address as it is in memory. */
static uintptr_t run_time(const struct image *image, uint64_t link)
{
    return (uintptr_t)image->base + (link - image->plan->header->lo);
}

static uintptr_t array_function(const struct image *image, uint64_t array, uint64_t i)
{
    uint64_t function;

    memcpy(&function, (const void *)run_time(image, array + i * 8), sizeof function);
    return function;
}

/* Before any code runs. What the image does to its arrays afterwards is the image's, and a fault in it, too. */
static void check_array(const struct image *image, uint64_t array, uint64_t count)
{
    const struct plan_header *h = image->plan->header;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t function = array_function(image, array, i);

        if (plan_segment_of(image->plan, function - (uintptr_t)image->base + h->lo, 1, PLAN_PROT_X) == NULL)
            host_die(HOST_REFUSED, "%s: an initialiser is no code of the image (got %#lx, at address %#lx) [RUN-5]",
                     image->plan->path, function, array + i * 8);
    }
}

static void call(uintptr_t function)
{
    (void)enter(function, host_stack.hi, NULL);
}

/* Run the image from its first initialiser to its last finaliser. */
static _Noreturn void run(const struct image *image)
{
    const struct plan_header *h = image->plan->header;
    int status;

    check_array(image, h->init_array, h->init_count);
    check_array(image, h->fini_array, h->fini_count);
    implementation_begin();
    measure_begin((unsigned)h->measure);
    if (h->init != 0)
        call(run_time(image, h->init));
    for (uint64_t i = 0; i < h->init_count; i++)
        call(array_function(image, h->init_array, i));
    status = enter(run_time(image, h->entry), host_stack.hi, NULL) & 255;
    for (uint64_t i = h->fini_count; i != 0; i--)
        call(array_function(image, h->fini_array, i - 1));
    if (h->fini != 0)
        call(run_time(image, h->fini));
    measure_end(END_RETURN, status, 0);
    kal_exit(status);
}

int main(int argc, char **argv)
{
    static struct plan plan;

    implementation_load(&argc, &argv);
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        print_version();
        return fflush(stdout) == 0 ? 0 : HOST_INTERNAL;
    }
    if (argc == 2 && strcmp(argv[1], "--describe") == 0) {
        print_description();
        return fflush(stdout) == 0 ? 0 : HOST_INTERNAL;
    }
    if (argc < 3)
        host_die(HOST_INTERNAL, "okhost is started by okrun: okhost PLAN_FD IMAGE [ARGUMENT...]");
    read_plan(descriptor_of(argv[1]), &plan);
    keep_directories(&plan);
    name_process(plan.path);
    host_image = (struct image){.plan = &plan, .fd = open_image(&plan), .argc = argc - 2, .argv = argv + 2};
    fault_begin(plan.header->measure != 0);
    load(&plan, &host_image);
    run(&host_image);
}
