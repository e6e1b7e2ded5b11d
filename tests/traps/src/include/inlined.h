/* In another directory than what includes it. MARK leaves a label at its line. */
#define MARK(name) __asm__ volatile(#name ": nop")

volatile int sink;

static inline __attribute__((always_inline)) int innermost(int n)
{
    MARK(in_innermost);
    return n * sink;
}

static inline __attribute__((always_inline)) int middle(int n)
{
    MARK(in_middle);
    return innermost(n + sink);
}
