/* The report of a crash. Written line by line, so that a fault while it is written leaves the lines before it. */
#define _GNU_SOURCE /* the registers in ucontext_t */
#include "crash.h"

#include <errno.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "frames.h"
#include "names.h"

#define MAX_FRAMES 64u

struct registers {
    uint64_t pc, sp, fp, link; /* link: the link register, where the processor has one */
};

struct meaning {
    int signal_number, code;
    const char *text;
};

static const struct meaning meanings[] = {
    {SIGSEGV, SEGV_MAPERR, "nothing is mapped there"},
    {SIGSEGV, SEGV_ACCERR, "no permission"},
    {SIGSEGV, SI_KERNEL, "no such address"},
    {SIGBUS, BUS_ADRALN, "misaligned address"},
    {SIGBUS, BUS_ADRERR, "no bytes there: was a mapped file made shorter?"},
    {SIGBUS, BUS_OBJERR, "hardware error"},
    {SIGBUS, SI_KERNEL, "no such address"},
    {SIGILL, ILL_ILLOPC, "illegal opcode"},
    {SIGILL, ILL_ILLOPN, "illegal operand"},
    {SIGILL, ILL_PRVOPC, "privileged opcode"},
    {SIGFPE, FPE_INTDIV, "integer division by zero"},
    {SIGFPE, FPE_INTOVF, "integer overflow"},
    {SIGFPE, FPE_FLTDIV, "floating-point division by zero"},
    {SIGFPE, FPE_FLTOVF, "floating-point overflow"},
    {SIGFPE, FPE_FLTINV, "invalid floating-point operation"},
    {SIGTRAP, TRAP_BRKPT, "breakpoint"},
    {SIGTRAP, TRAP_TRACE, "trace trap"},
    {SIGTRAP, SI_KERNEL, "breakpoint"},
    {SIGSYS, 1 /* SYS_SECCOMP */, "system call not allowed"},
};

static struct registers registers_of(const void *context)
{
    const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;
    struct registers r = {0};

#if defined(__x86_64__)
    r.pc = (uint64_t)m->gregs[REG_RIP];
    r.sp = (uint64_t)m->gregs[REG_RSP];
    r.fp = (uint64_t)m->gregs[REG_RBP];
#elif defined(__aarch64__)
    r.pc = m->pc;
    r.sp = m->sp;
    r.fp = m->regs[29];
    r.link = m->regs[30];
#endif
    return r;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != 0 ? slash + 1 : path;
}

/* The way to the fault: program counters, the innermost first. */
struct trace {
    uint64_t pc[MAX_FRAMES];
    unsigned count;
    bool cut; /* there are more */
};

static void push(struct trace *trace, uint64_t address)
{
    if (trace->count < MAX_FRAMES)
        trace->pc[trace->count++] = address;
    else
        trace->cut = true;
}

/* Where the function of an address starts; all ones when it has no name. */
static uint64_t function_start(uint64_t address)
{
    char none;
    size_t length;
    uint64_t offset;

    return names_lookup(address, &none, 0, &length, &offset) ? address - offset : UINT64_MAX;
}

#if defined(__x86_64__)
/* Is an address the one after a direct call of the function at start? */
static bool follows_call_of(uint64_t address, uint64_t start)
{
    uint64_t link;
    int32_t distance;
    const uint8_t *call = (const uint8_t *)(address - 5);

    if (!in_image(address, &link) || plan_segment_of(host_image.plan, link - 5, 5, PLAN_PROT_X) == NULL)
        return false;
    memcpy(&distance, call + 1, sizeof distance);
    return *call == 0xe8 && address + (uint64_t)(int64_t)distance == start;
}

/* The caller of a function that has no frame yet: at its first instruction the return address is the top of the stack;
 * a few instructions on it may still be, or lie below the frame pointer of the caller. */
static uint64_t caller_without_frame(const struct registers *r, uint64_t first_return)
{
    uint64_t start = function_start(r->pc), address;

    (void)first_return;
    if (start == UINT64_MAX)
        return 0; /* nor may its code be looked at: a file that has become shorter has no names, and no bytes */
    for (uint64_t at = r->sp; at <= r->sp + 8 && at != r->fp + 8 && stack_word(at, &address); at += 8) {
        if (follows_call_of(address, start) || (r->pc == start && at == r->sp))
            return address;
    }
    return 0;
}

static uint64_t caller_of_nowhere(const struct registers *r)
{
    uint64_t address = 0;

    (void)stack_word(r->sp, &address);
    return address;
}
#elif defined(__aarch64__)
/* The caller of a function that makes no frame: the link register still holds it, while in any other function it is the
 * frame's, or an address in that function itself. */
static uint64_t caller_without_frame(const struct registers *r, uint64_t first_return)
{
    uint64_t address = unsigned_address(r->link), link;

    if (address == first_return || !in_image(address, &link) || function_start(address - 1) == function_start(r->pc))
        return 0;
    return address;
}

static uint64_t caller_of_nowhere(const struct registers *r)
{
    return unsigned_address(r->link);
}
#endif

/* The caller that the frames do not have, or 0: where the last call led to no code, or the function has no frame. */
static uint64_t missing_caller(const struct registers *r, uint64_t first_return)
{
    uint64_t link;

    if (in_image(r->pc, &link))
        return caller_without_frame(r, first_return);
    return in_host(r->pc) ? 0 : caller_of_nowhere(r);
}

/* The first frame: the register's, but the C library uses it for other things, as when free() aborts. Then it is the
 * first two words on the stack that are a frame of a function which the image called. */
static uint64_t first_frame(const struct registers *r)
{
    uint64_t next, address, link;

    if (!in_host(r->pc) || stack_word(r->fp, &next))
        return r->fp;
    for (uint64_t at = (r->sp + 15) & ~UINT64_C(15); stack_word(at, &next) && stack_word(at + 8, &address); at += 16) {
        if (next > at && next % 16 == 0 && next < (uintptr_t)host_stack.hi &&
            in_image(unsigned_address(address), &link) &&
            plan_segment_of(host_image.plan, link, 1, PLAN_PROT_X) != NULL)
            return at;
    }
    return r->fp;
}

/* Frames lie above one another in the image's stack, or the trace ends: it cannot run in a circle. The outermost
 * function's caller is not in it: that is the host, wherever the function was started from. */
static void walk(const struct registers *r, struct trace *trace)
{
    uint64_t frame = first_frame(r), next, address = 0, caller;

    push(trace, r->pc);
    (void)stack_word(frame + 8, &address);
    caller = missing_caller(r, unsigned_address(address));
    if (caller != 0)
        push(trace, caller);
    while (!trace->cut && stack_word(frame, &next) && stack_word(frame + 8, &address)) {
        if (next == 0 && in_host(unsigned_address(address)))
            break;
        push(trace, unsigned_address(address));
        if (next <= frame)
            break;
        frame = next;
    }
}

static void put_frame(unsigned n, uint64_t address)
{
    const char *image = base_name(host_image.plan->path);
    char name[512];
    size_t length;
    uint64_t offset, link;
    unsigned back = n == 0 ? 0 : 1; /* a call that does not return may be its function's last instruction */

    if (in_host(address)) {
        host_put("    #%u %s\n", n, implementation_has_code(address) ? "implementation" : "okhost");
    } else if (!in_image(address, &link)) {
        host_put("    #%u %#lx\n", n, address);
    } else if (names_lookup(address - back, name, sizeof name - 1, &length, &offset)) {
        name[length < sizeof name ? length : sizeof name - 1] = 0;
        host_put("    #%u %s+%#lx (%s+%#lx)\n", n, name, offset + back, image, link);
    } else {
        host_put("    #%u %s+%#lx\n", n, image, link);
    }
}

/* A path as a shell reads it, quoted where it has to be. */
static void put_path(const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-:,@%=";

    if (path[strspn(path, plain)] == 0) {
        host_put("%s", path);
        return;
    }
    host_put("'");
    for (const char *quote; (quote = strchr(path, '\'')) != NULL; path = quote + 1) {
        char part[256];

        while (path < quote) {
            size_t n = (size_t)(quote - path) < sizeof part ? (size_t)(quote - path) : sizeof part - 1;

            memcpy(part, path, n);
            part[n] = 0;
            host_put("%s", part);
            path += n;
        }
        host_put("'\\''");
    }
    host_put("%s'", path);
}

/* The command asks for the byte before each return address, which is inside the call, so that it names the caller. */
static void put_command(const struct trace *trace)
{
    bool begun = false;

    for (unsigned i = 0; i < trace->count; i++) {
        uint64_t link;

        if (in_host(trace->pc[i]) || !in_image(trace->pc[i], &link))
            continue;
        if (!begun) {
            host_put("okld symbolize ");
            put_path(host_image.plan->path);
            begun = true;
        }
        host_put(" %#lx", i == 0 ? link : link - 1);
    }
    if (begun)
        host_put("\n");
}

static void put_reason(int signal_number, const siginfo_t *info)
{
    const char *image = base_name(host_image.plan->path), *name = sigabbrev_np(signal_number);
    bool has_address = info->si_code > 0 && info->si_code != SI_KERNEL;
    bool memory = has_address && (signal_number == SIGSEGV || signal_number == SIGBUS);
    uint64_t at = (uintptr_t)info->si_addr, stack = (uintptr_t)host_stack.lo;
    const char *text = "";

    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (meanings[i].signal_number == signal_number && meanings[i].code == info->si_code)
            text = meanings[i].text;
    }
    if (memory && at < stack && stack - at <= PLAN_PAGE)
        text = "stack overflow";
    host_put("okrun: %s: SIG%s", image, name != NULL ? name : "?");
    if (info->si_code <= 0 && info->si_pid != getpid())
        host_put(", sent by process %d", info->si_pid);
    if (text[0] != 0)
        host_put(", %s", text);
    if (memory)
        host_put(" (address %#lx)", at);
    host_put("\n");
}

void crash_report(int signal_number, const siginfo_t *info, const void *context)
{
    struct registers r = registers_of(context);
    struct trace trace = {.count = 0, .cut = false};

    put_reason(signal_number, info);
    host_put("    pc %#lx sp %#lx fp %#lx\n", r.pc, r.sp, r.fp);
    walk(&r, &trace);
    for (unsigned i = 0; i < trace.count; i++)
        put_frame(i, trace.pc[i]);
    if (trace.cut)
        host_put("    ...\n");
    put_command(&trace);
}
