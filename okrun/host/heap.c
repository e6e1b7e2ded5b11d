/* Entries for kal_alloc and kal_free that keep a book of the blocks.
 *
 * They are outermost: what they do takes no part in the times of the calls, which are counted and timed below them. A
 * block is noted after it was allocated and forgotten before it is freed, so that between the two nobody else can have
 * been given its address. */
#define _GNU_SOURCE /* PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP */
#include "heap.h"

#include <openkal/memory.h>
#include <openkal/task.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "binding.h"
#include "clock.h"
#include "dhat.h"
#include "frames.h"
#include "heap_book.h"
#include "kal/copied.h"
#include "surface.gen.h"

#define LOOK_NS 1000000 /* between looks at the lock */
#define LOOKS 100       /* a tenth of a second for a task to leave the book whole */

#define OVERHEAD_ROUNDS 16
#define OVERHEAD_BLOCKS 64
#define OVERHEAD_DEPTH 8 /* frames of the stack under which it is measured */

static __typeof__(&kal_alloc) next_alloc;
static __typeof__(&kal_free) next_free;

struct guarded {
    pthread_mutex_t lock; /* of the book */
    struct book book;
};

static struct guarded heap = {.lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP};
FREE_IN_COPIES(heap.lock)
static uint64_t began; /* in ticks */
static int spare = -1; /* a descriptor that the file takes at the end, when the program may have used up all others */

/* The calling thread is changing a book, which a signal handler above it can neither wait for nor read whole; and the
 * signal that came meanwhile, or 0. */
static _Thread_local bool changing __attribute__((tls_model("local-exec")));
static _Thread_local int postponed __attribute__((tls_model("local-exec")));

static void begin_change(struct guarded *in)
{
    __atomic_store_n(&changing, true, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    pthread_mutex_lock(&in->lock);
}

static void end_change(struct guarded *in)
{
    int signal_number;

    pthread_mutex_unlock(&in->lock);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&changing, false, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    signal_number = __atomic_load_n(&postponed, __ATOMIC_RELAXED);
    if (__builtin_expect(signal_number != 0, 0)) {
        __atomic_store_n(&postponed, 0, __ATOMIC_RELAXED);
        raise(signal_number);
    }
}

bool heap_postpone(int signal_number)
{
    if (!__atomic_load_n(&changing, __ATOMIC_RELAXED))
        return false;
    __atomic_store_n(&postponed, signal_number, __ATOMIC_RELAXED);
    return true;
}

/* In okhost-impl the stacks of tasks are the library's, which says where the caller's is. */
static inline void know_stack(uint64_t frame)
{
#ifdef OKHOST_IMPL
    __typeof__(&kal_task_stack) task_stack = (__typeof__(&kal_task_stack))host_bindings[KAL_INDEX_kal_task_stack].impl;
    uint64_t none;
    kal_uintptr size;
    void *lo;

    if (!stack_word(frame, &none) && task_stack != NULL && task_stack(&lo, &size) == kal_ok)
        host_stack = (struct stack){lo, (char *)lo + size};
#else
    (void)frame;
#endif
}

/* The way to a call, by its frame: the image's frames lie above one another in its stack, or the way ends. The outermost
 * function's caller, which is the host, is not on it. */
static inline void walk(struct trace *trace, uint64_t frame)
{
    uint64_t next, address, hash = 0;

    trace->depth = 0;
    while (trace->depth < BOOK_DEPTH && stack_word(frame, &next) && stack_word(frame + 8, &address)) {
        address = unsigned_address(address);
        if (next == 0 && in_host(address))
            break;
        trace->pc[trace->depth++] = address;
        hash = (hash ^ address) * UINT64_C(0x9e3779b97f4a7c15);
        if (next <= frame)
            break;
        frame = next;
    }
    trace->hash = hash ^ hash >> 32;
}

static inline void note(struct guarded *in, const void *p, uint64_t size, const void *frame, const void *caller)
{
    struct trace trace;
    uint64_t now = clock_ticks();

    know_stack((uintptr_t)frame);
    walk(&trace, (uintptr_t)frame);
    if (trace.depth == 0) { /* where the stack is unknown, the caller at least is not */
        trace.pc[trace.depth++] = unsigned_address((uintptr_t)caller);
        trace.hash = trace.pc[0];
    }
    begin_change(in);
    book_add(&in->book, (uintptr_t)p, size, &trace, now);
    end_change(in);
}

static inline void forget(struct guarded *in, const void *p)
{
    uint64_t now = clock_ticks();

    begin_change(in);
    book_remove(&in->book, (uintptr_t)p, now);
    end_change(in);
}

static void *heap_alloc(kal_uintptr size, kal_uintptr align)
{
    void *p = next_alloc(size, align);

    if (p != NULL)
        note(&heap, p, size, __builtin_frame_address(0), __builtin_return_address(0));
    return p;
}

static void heap_free(void *p, kal_uintptr size, kal_uintptr align)
{
    if (p != NULL)
        forget(&heap, p);
    next_free(p, size, align);
    __asm__ volatile(""); /* a call, not a jump: a fault in it has our caller's frame, by way of ours */
}

void *heap_entry(const char *name, void *function)
{
    if (strcmp(name, "kal_alloc") == 0) {
        next_alloc = (__typeof__(next_alloc))function;
        return (void *)heap_alloc;
    }
    if (strcmp(name, "kal_free") == 0) {
        next_free = (__typeof__(next_free))function;
        return (void *)heap_free;
    }
    return function;
}

void heap_begin(void)
{
    book_clear(&heap.book);
    if (spare < 0)
        spare = fcntl(host_image.fd, F_DUPFD_CLOEXEC, 3);
    began = clock_ticks();
}

/* Take the lock; false where the task that has it does not go on, such as the one that a signal handler interrupted. */
static bool take_at_the_end(void)
{
    const struct timespec wait = {0, LOOK_NS};

    if (changing)
        return false;
    for (int looks = 0; looks < LOOKS; looks++) {
        if (pthread_mutex_trylock(&heap.lock) == 0)
            return true;
        nanosleep(&wait, NULL);
    }
    return false;
}

/* What noting a block and forgetting it costs by itself, in nanoseconds, measured now on a book and under a stack that
 * are made for it; of some rounds the shortest, as the others were interrupted. */
static uint64_t measure_overhead(void)
{
    struct guarded none = {.lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP};
    static char blocks[OVERHEAD_BLOCKS][16];
    uint64_t frames[OVERHEAD_DEPTH][2], shortest = UINT64_MAX;
    struct stack saved = host_stack;

    for (size_t i = 0; i < OVERHEAD_DEPTH; i++) {
        frames[i][0] = i + 1 < OVERHEAD_DEPTH ? (uintptr_t)frames[i + 1] : 0;
        frames[i][1] = 1;
    }
    host_stack = (struct stack){frames, frames + OVERHEAD_DEPTH};
    for (int round = 0; round < OVERHEAD_ROUNDS; round++) {
        uint64_t from = clock_ticks(), ticks;

        for (size_t i = 0; i < OVERHEAD_BLOCKS; i++)
            note(&none, blocks[i], sizeof blocks[i], frames, NULL);
        for (size_t i = 0; i < OVERHEAD_BLOCKS; i++)
            forget(&none, blocks[i]);
        ticks = clock_ticks() - from;
        shortest = ticks < shortest ? ticks : shortest;
    }
    host_stack = saved;
    book_clear(&none.book);
    return (clock_ns(shortest) + OVERHEAD_BLOCKS / 2) / OVERHEAD_BLOCKS;
}

static void write_summary(struct json *json, const char *file)
{
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"blocks", heap.book.total.blocks},     {"bytes", heap.book.total.bytes},
        {"peak_blocks", heap.book.peak.blocks}, {"peak_bytes", heap.book.peak.bytes},
        {"end_blocks", heap.book.live.blocks}, {"end_bytes", heap.book.live.bytes},
        {"overhead_ns", measure_overhead()},
    };

    json_begin(json, '{');
    json_key(json, "file");
    if (file != NULL)
        json_string(json, file, strlen(file));
    else
        json_null(json);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        json_pair_number(json, numbers[i].key, numbers[i].value);
    json_end(json, '}');
}

void heap_write(struct json *report, int directory, const char *id)
{
    bool is_whole = take_at_the_end();
    struct dhat dhat = {.book = &heap.book, .began = began, .now = clock_ticks(), .is_whole = is_whole, .id = id};
    char file[DHAT_NAME];
    int error;

    if (spare >= 0)
        close(spare);
    spare = -1; /* a copy that another task makes now has one of its own */
    error = dhat_write(&dhat, directory, file);
    if (error != 0)
        host_warn("no heap profile: cannot write %s: %s", file, strerrordesc_np(error));
    write_summary(report, error == 0 ? file : NULL);
    if (is_whole)
        pthread_mutex_unlock(&heap.lock);
    else
        host_warn("%s: a task was allocating when the program ended: a block may be missing", file);
    if (heap.book.untracked != 0)
        host_warn("%s: %lu blocks are not in it: no memory to keep them", file, heap.book.untracked);
}
