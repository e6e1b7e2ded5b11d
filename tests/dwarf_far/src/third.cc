#include "common.h"

template <int depth> static inline __attribute__((always_inline)) int nested(int n)
{
    sink = depth;
    return nested<depth - 1>(n * sink) + depth;
}

template <> inline __attribute__((always_inline)) int nested<0>(int n)
{
    return shop::clamp(n, sink);
}

__attribute__((noinline)) int third(int n)
{
    int total = 0;
    for (int i = 0; i < n; i++)
        total += nested<3>(i);
    return total;
}
