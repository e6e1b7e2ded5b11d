/* A library as the implementation of the surface: okhost-impl --impl LIBRARY ...
 *
 * Images are bound to the library's functions themselves, but for the two ends, before which the report is written, and
 * for the interface word, which has the runner's interfaces, too.                             SPEC: IMPL-1 to IMPL-3 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include <dlfcn.h>
#include <link.h>
#include <openkal/abort.h>
#include <openkal/version.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../binding.h"
#include "../fault.h"
#include "../host.h"
#include "../implementation.h"
#include "../kal/terminal.h"
#include "../measure.h"
#include "library.h"
#include "surface.gen.h"

#define ABORT_STATUS 134 /* 128 + SIGABRT: what a shell shows */
#define MAX_RANGES 64

/* What the library has for the functions of which this file has others. */
static kal_u64 (*library_version)(void), (*library_interfaces)(void);
static __typeof__(&kal_exit) library_exit;
static __typeof__(&kal_abort) library_abort;

/* Code that is neither this program's nor the image's: the library's, and that of those that it needs. */
static struct {
    uint64_t from, to;
} ranges[MAX_RANGES];
static size_t range_count;

kal_u64 kal_version(void)
{
    return library_version();
}

/* SPEC: BIND-4 */
kal_u64 kal_interfaces(void)
{
    return library_interfaces() | KAL_IFACE_PROF | KAL_IFACE_DEBUG;
}

/* Write the report, then end as the library does. The runner itself ends by it, too, when the entry has returned: there
 * may be something that the library puts back. */
_Noreturn void kal_exit(int code)
{
    measure_end(END_EXIT, code & 0xff, 0);
    if (library_exit != NULL)
        library_exit(code);
    _exit(code & 0xff);
}

_Noreturn void kal_abort(const char *msg, kal_uintptr len)
{
    measure_end(END_ABORT, ABORT_STATUS, SIGABRT);
    library_abort(msg, len);
}

/* The terminals are the library's to put back. */
void terminal_restore(void)
{
}

bool implementation_has_code(uint64_t address)
{
    for (size_t i = 0; i < range_count; i++) {
        if (address >= ranges[i].from && address < ranges[i].to)
            return true;
    }
    return false;
}

static int note_code(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (object->dlpi_name[0] == 0) /* this program */
        return 0;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &object->dlpi_phdr[i];

        if (h->p_type != PT_LOAD || (h->p_flags & PF_X) == 0 || range_count == MAX_RANGES)
            continue;
        ranges[range_count].from = object->dlpi_addr + h->p_vaddr;
        ranges[range_count++].to = object->dlpi_addr + h->p_vaddr + h->p_memsz;
    }
    return 0;
}

/* A copy of the process that the library makes by fork(). */
static void copied(void)
{
    fault_copied();
    measure_copied();
}

/* The reason begins with the name of the library, or of one that it needs. */
static _Noreturn void cannot_load(const char *path, const char *reason)
{
    size_t length = strlen(path);
    bool is_named = strncmp(reason, path, length) == 0 && reason[length] == ':';

    host_die(HOST_INTERNAL, "--impl: %s%s%s [IMPL-2]", is_named ? "" : path, is_named ? "" : ": ", reason);
}

static void *require(void *library, const char *path, const char *name)
{
    void *function = dlsym(library, name);

    if (function == NULL)
        host_die(HOST_INTERNAL, "--impl: %s: no implementation of openkal: it exports no %s [IMPL-2]", path, name);
    return function;
}

/* Bind what the library's own word says that it answers, as far as it exports it.                 SPEC: BIND-3 */
static void bind(void *library)
{
    uint64_t word = library_interfaces();

    for (size_t i = 0; i < host_binding_count; i++) {
        struct binding *b = &host_bindings[i];

        if (b->impl == NULL && (b->interface < 0 || (word >> b->interface & 1) != 0))
            b->impl = dlsym(library, b->name);
    }
}

/* Put a function of this file in the place of the library's, which it gives. */
static void *replace(size_t index, void *function)
{
    void *before = host_bindings[index].impl;

    if (before != NULL)
        host_bindings[index].impl = function;
    return before;
}

void implementation_load(int *argc, char ***argv)
{
    const char *path = *argc > 2 ? (*argv)[2] : "";
    void *library;

    if (strchr(path, '/') == NULL || strcmp((*argv)[1], "--impl") != 0)
        host_die(HOST_INTERNAL, "okhost-impl has no implementation of its own: it is for okrun --impl [IMPL-7]");
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        cannot_load(path, dlerror());
    library_version = (kal_u64(*)(void))require(library, path, "kal_version");
    library_interfaces = (kal_u64(*)(void))require(library, path, "kal_interfaces");
    bind(library);
    (void)replace(KAL_INDEX_kal_interfaces, (void *)kal_interfaces);
    library_exit = (__typeof__(&kal_exit))replace(KAL_INDEX_kal_exit, (void *)kal_exit);
    library_abort = (__typeof__(&kal_abort))replace(KAL_INDEX_kal_abort, (void *)kal_abort);
    library_keep_begin(dlsym(library, "okrun_impl_begin"));
    (void)dl_iterate_phdr(note_code, NULL);
    (void)pthread_atfork(NULL, NULL, copied);
    *argc -= 2;
    *argv += 2;
}
