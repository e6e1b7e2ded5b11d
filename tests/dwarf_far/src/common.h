// What all units of the program include: functions that are inlined, some two levels deep.
#pragma once

extern volatile int sink;

namespace shop {

struct Item {
    int price;
    int count;
    inline int total() const { return price * count + sink; }
    int taxed(int rate) const;
};

template <typename T> inline T twice(T value)
{
    sink = static_cast<int>(value);
    return value + value;
}

inline int sum(const Item &a, const Item &b)
{
    return twice(a.total()) + twice(b.total());
}

static inline __attribute__((always_inline)) int clamp(int value, int most)
{
    if (value > most)
        sink = value;
    return value > most ? most : value;
}

}

int first(int n);
int second(int n);
int third(int n);
