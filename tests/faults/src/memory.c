/* memory: takes memory until there is none, and sees that whatever needs some says so; when it is given back, everything
 * works again. */
#include "faults.h"

struct block {
    struct block* next;
    kal_uintptr size;
};

static struct kal_file file;
static struct kal_dir root; /* opened before: what is left of the memory may do for that */

static struct block* take_all(void)
{
    struct block* all = 0;

    for (kal_uintptr size = (kal_uintptr)16 << 20; size >= 64; size /= 4) {
        struct block* one;

        while ((one = kal_alloc(size, 16)) != 0) {
            *one = (struct block){all, size};
            all = one;
        }
    }
    return all;
}

static void give_back(struct block* one)
{
    while (one) {
        struct block* next = one->next;

        kal_free(one, one->size, 16);
        one = next;
    }
}

static void set(void* argument)
{
    *(volatile int*)argument = 1;
}

static void nothing_is_given(void)
{
    const kal_uintptr much = (kal_uintptr)1 << 24;
    struct kal_task task = {77};
    void* p = &task;
    char byte = 0;

    EXPECT(kal_task_start(set, 0, &task) == kal_err_no_memory && task.h == 77);
    EXPECT(kal_region_reserve(much, &p) == kal_err_no_memory && p == &task);
    EXPECT(kal_map_file(file, 0, much, KAL_MAP_READ, &p) == kal_err_no_memory && p == &task);
    EXPECT(kal_exec_alloc(much) == 0);
    EXPECT(start_nothing(root) == kal_err_no_memory);
    EXPECT(kal_stream_read(kal_fs_stream(file), &byte, 1) == 1);
}

int main(void)
{
    struct kal_task task;
    struct block* all;
    int done = 0;
    void* p;

    root = directory(1);
    EXPECT(open_file(directory(0), "file", KAL_OPEN_READ, &file) == kal_ok);
    all = take_all();
    EXPECT(all != 0);
    nothing_is_given();
    give_back(all);
    EXPECT(kal_task_start(set, &done, &task) == kal_ok && kal_task_join(task) == kal_ok && done == 1);
    EXPECT(kal_map_file(file, 0, (kal_uintptr)1 << 24, KAL_MAP_READ, &p) == kal_ok);
    EXPECT(start_nothing(root) == kal_ok);
    return 0;
}
