/* Places of known lines: here(x) is one instruction, at the symbol x, of the line that it stands on. */
#define here(name) __asm__ volatile(".globl " #name "\n" #name ": nop")
#define noinline __attribute__((noinline, noclone))

volatile int sink;

noinline void helper(void)
{
    here(in_helper);
}

static inline __attribute__((always_inline)) void leaf(void)
{
    sink = 1;
    here(in_leaf);
    sink = 2;
}

static inline __attribute__((always_inline)) void twig(void)
{
    leaf();
}

noinline void middle(void)
{
    twig();
    sink = 3;
}

noinline void outer(void)
{
    helper();
    here(after_helper);
    middle();
    here(after_middle);
}

noinline __attribute__((noreturn)) void die(void)
{
    for (;;)
        sink = 4;
}

/* The last instruction is a call that does not return: it returns to the first byte of `next`. */
noinline void last_call(void)
{
    sink = 5;
    die();
}

#define text(x) #x
#define line_of(x) ".loc 1 " text(x) "\n"
#define function(name, body) \
    __asm__(".globl " #name "\n.type " #name ", @function\n" line_of(__LINE__) #name ": " body "\n" \
            ".size " #name ", .-" #name)

function(next, "ret");

/* What a handler returns to. */
function(__restore_rt, "mov $15, %rax\nsyscall");

void _start(void)
{
    outer();
    last_call();
}
