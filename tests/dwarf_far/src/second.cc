#include "common.h"

namespace shop {
__attribute__((noinline)) long hidden(long n)
{
    return twice(n) - sink;
}
}

int shop::Item::taxed(int rate) const
{
    return clamp(total() * rate / 100, price);
}

__attribute__((noinline)) int second(int n)
{
    shop::Item item{n, n};
    return item.taxed(7) + static_cast<int>(shop::hidden(n));
}
