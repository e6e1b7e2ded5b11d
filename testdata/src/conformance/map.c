#define INTERFACE "map"
#include "fault.h"
#include "place.h"

#define BOTH (KAL_MAP_READ | KAL_MAP_WRITE)

static int map_gives(struct kal_file file, kal_u64 offset, kal_uintptr size, kal_uintptr access)
{
    void* p = (void*)UNTOUCHED;
    int error = kal_map_file(file, offset, size, access, &p);

    if (error == kal_ok)
        kal_map_release(p, size);
    return error != kal_ok && p != (void*)UNTOUCHED ? -1 : error;
}

static char byte_at(struct kal_file file, kal_i64 at)
{
    char byte = 0;

    kal_fs_seek(file, at, KAL_SEEK_SET, 0);
    kal_stream_read(kal_fs_stream(file), &byte, 1);
    return byte;
}

static void ordinary(struct kal_file file, kal_uintptr unit)
{
    char *p = 0, *q = 0;

    CHECK(kal_map_file, "gives the file's bytes",
          kal_map_file(file, 0, 2 * unit, BOTH, (void**)&p) == kal_ok && p && same(p, "text", 4) &&
              p[2 * unit - 1] == 0);
    CHECK(kal_map_file, "begins at a multiple of the granularity", (kal_uintptr)p % unit == 0);
    CHECK(kal_map_file, "from an offset", kal_map_file(file, unit, 5, KAL_MAP_READ, (void**)&q) == kal_ok && q[0] == 0);
    report(NAMED(kal_map_file), "without WRITE or PRIVATE it cannot be written", faults(write_byte, q));
    if (kal_map_props() & KAL_MAP_PROP_SHARED) {
        p[unit] = 'W';
        CHECK(kal_map_flush, "WRITE reaches the file",
              kal_map_flush(p, 2 * unit) == kal_ok && byte_at(file, (kal_i64)unit) == 'W');
        CHECK(kal_map_file, "two of one range are the same bytes", q[0] == 'W');
    } else {
        UNOBSERVED(kal_map_flush, "WRITE reaches the file");
        UNOBSERVED(kal_map_file, "two of one range are the same bytes");
    }
    CHECK(kal_map_flush, "a part", kal_map_flush(p + 3, 10) == kal_ok);
    CHECK(kal_map_flush, "a size of 0 is kal_err_invalid", kal_map_flush(p, 0) == kal_err_invalid);
    CHECK(kal_map_flush, "past the end is kal_err_invalid",
          kal_map_flush(p + unit, 2 * unit) == kal_err_invalid && kal_map_flush(p, ~(kal_uintptr)0) == kal_err_invalid);
    CHECK(kal_map_flush, "null and what is no mapping are kal_err_invalid",
          kal_map_flush(0, 1) == kal_err_invalid && kal_map_flush(&unit, 1) == kal_err_invalid);
    CHECK(kal_map_release, "another size or start is kal_err_invalid",
          kal_map_release(p, unit) == kal_err_invalid && kal_map_release(p + unit, unit) == kal_err_invalid);
    CHECK(kal_map_release, "null and what is no mapping are kal_err_invalid",
          kal_map_release(0, unit) == kal_err_invalid && kal_map_release(&unit, 8) == kal_err_invalid);
    CHECK(kal_map_release, "takes it back",
          kal_map_release(q, 5) == kal_ok && kal_map_release(q, 5) == kal_err_invalid);
    CHECK(kal_map_file, "PRIVATE stays here",
          kal_map_file(file, 0, unit, KAL_MAP_READ | KAL_MAP_PRIVATE, (void**)&q) == kal_ok &&
              (q[0] = 'P', byte_at(file, 0) == 't') && p[0] == 't' && q[0] == 'P');
    kal_map_release(q, unit);
    CHECK(kal_map_release, "what was released is kal_err_invalid",
          kal_map_release(p, 2 * unit) == kal_ok && kal_map_flush(p, 1) == kal_err_invalid);
}

static void refusals(struct kal_dir here, struct kal_file file, kal_uintptr unit)
{
    struct kal_file reads = opened(here, "bytes", KAL_OPEN_READ), writes = opened(here, "bytes", KAL_OPEN_WRITE);
    void* p;

    CHECK(kal_map_file, "a size of 0 is kal_err_invalid", map_gives(file, 0, 0, KAL_MAP_READ) == kal_err_invalid);
    CHECK(kal_map_file, "more than the file has is kal_err_invalid",
          map_gives(file, 0, 4 * unit, KAL_MAP_READ) == kal_err_invalid &&
              map_gives(file, 4 * unit, 1, KAL_MAP_READ) == kal_err_invalid &&
              map_gives(file, 0, ~(kal_uintptr)0, KAL_MAP_READ) == kal_err_invalid);
    CHECK(kal_map_file, "no multiple of the granularity is kal_err_invalid",
          map_gives(file, 1, 1, KAL_MAP_READ) == kal_err_invalid);
    CHECK(kal_map_file, "an access without READ and one of both kinds are kal_err_invalid",
          map_gives(file, 0, 1, 0) == kal_err_invalid && map_gives(file, 0, 1, KAL_MAP_WRITE) == kal_err_invalid &&
              map_gives(file, 0, 1, KAL_MAP_PRIVATE) == kal_err_invalid &&
              map_gives(file, 0, 1, BOTH | KAL_MAP_PRIVATE) == kal_err_invalid);
    CHECK(kal_map_file, "unknown bits are kal_err_invalid", map_gives(file, 0, 1, KAL_MAP_READ | 8) == kal_err_invalid);
    CHECK(kal_map_file, "a null out-pointer is kal_err_invalid",
          kal_map_file(file, 0, 1, KAL_MAP_READ, 0) == kal_err_invalid);
    CHECK(kal_map_file, "what cannot be read is kal_err_permission",
          map_gives(writes, 0, 1, KAL_MAP_READ) == kal_err_permission);
    CHECK(kal_map_file, "WRITE of what cannot be written is kal_err_permission",
          map_gives(reads, 0, 1, BOTH) == kal_err_permission && map_gives(reads, 0, 1, KAL_MAP_READ) == kal_ok);
    CHECK(kal_map_file, "a mapping outlives its file's handle",
          kal_map_file(reads, 0, 4, KAL_MAP_READ, &p) == kal_ok && (kal_fs_close_file(reads), same(p, "text", 4)) &&
              kal_map_release(p, 4) == kal_ok);
    REFUSES(kal_map_file, reads.h, here.h, map_gives((struct kal_file){word}, 0, 1, KAL_MAP_READ) == kal_err_invalid);
    kal_fs_close_file(writes);
}

int main(void)
{
    const kal_uintptr unit = kal_map_granularity();
    struct kal_dir here = place();
    struct kal_file file = made(here, "bytes", "text");

    kal_fs_truncate(file, 3 * unit);
    CHECK(kal_map_granularity, "is a power of two", unit != 0 && (unit & (unit - 1)) == 0);
    CHECK(kal_map_props, "unassigned positions are 0", (kal_map_props() & ~KAL_MAP_PROP_SHARED) == 0);
    ordinary(file, unit);
    refusals(here, file, unit);
    return summary();
}
