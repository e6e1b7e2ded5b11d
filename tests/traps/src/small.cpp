// Traps 23 and 45: a cold part, lambdas in a function, names that are one or two references away.
extern "C" void abort_here(int) __attribute__((noinline, cold));
volatile int sink;
#define MARK(name) __asm__ volatile(#name ": nop")

extern "C" void abort_here(int n)
{
    sink = n;
}

struct Shape {
    __attribute__((noinline)) int area(int n) const;
};

int Shape::area(int n) const
{
    MARK(in_area);
    return n * n + sink;
}

namespace deep {
__attribute__((noinline)) int with_lambda(int n)
{
    auto twice = [](int k) __attribute__((noinline)) {
        MARK(in_lambda);
        sink = k;
        return k * 2;
    };
    return twice(n) + twice(n + 1);
}
}

extern "C" __attribute__((noinline)) int warm(int n)
{
    if (__builtin_expect(n > 1000, 0)) {
        abort_here(n);
        abort_here(n + 1);
        sink = 7;
    }
    return n + sink;
}

extern "C" int _start()
{
    return warm(sink) + deep::with_lambda(sink) + Shape().area(sink);
}
