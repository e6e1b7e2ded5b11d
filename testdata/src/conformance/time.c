#define INTERFACE "time"
#include "conformance.h"

int main(void)
{
    const kal_u64 year_2020 = 1577836800 * SECOND, year_2200 = 7258118400 * SECOND;
    const kal_uintptr assigned =
        KAL_TIME_PROP_WALL_AVAILABLE | KAL_TIME_PROP_MONOTONIC_SUSPENDS | KAL_TIME_PROP_SLEEP_PRECISE;
    kal_u64 before = kal_time_monotonic(), wall = kal_time_wall(), now;
    int forward = 1;

    for (int i = 0; i < 10000; i++) {
        now = kal_time_monotonic();
        forward &= now >= before;
        before = now;
    }
    CHECK(kal_time_monotonic, "never goes back", forward);
    kal_time_sleep(20 * MILLISECOND);
    now = kal_time_monotonic();
    CHECK(kal_time_sleep, "sleeps at least what is asked", now - before >= 20 * MILLISECOND);
    CHECK(kal_time_monotonic, "counts nanoseconds", now - before < 60 * SECOND);
    before = now;
    kal_time_sleep(0);
    kal_time_sleep(1);
    CHECK(kal_time_sleep, "0 and 1 return", kal_time_monotonic() - before < 60 * SECOND);
    if (kal_time_props() & KAL_TIME_PROP_WALL_AVAILABLE) {
        CHECK(kal_time_wall, "counts nanoseconds since 1970", wall > year_2020 && wall < year_2200);
        CHECK(kal_time_wall, "goes on", kal_time_wall() != wall);
    } else {
        UNOBSERVED(kal_time_wall, "counts nanoseconds since 1970");
        UNOBSERVED(kal_time_wall, "goes on");
    }
    now = kal_time_monotonic_granularity();
    CHECK(kal_time_monotonic_granularity, "is above 0 and at most a second", now > 0 && now <= SECOND);
    CHECK(kal_time_props, "unassigned positions are 0", (kal_time_props() & ~assigned) == 0);
    CHECK(kal_time_props, "is the same at every call", kal_time_props() == kal_time_props());
    return summary();
}
