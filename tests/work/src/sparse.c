/* Maps a file of 1 GiB, `sparse` in the working directory, in which a byte in every STEP is not 0: says how many there
 * are, and writes a byte of its own behind each. */
#include <openkal/fs.h>
#include <openkal/map.h>

#include "../../e2e/src/text.h"

#define SIZE ((kal_uintptr)1 << 30)
#define STEP ((kal_uintptr)16 << 20)

int main(void)
{
    kal_uintptr length, found = 0;
    struct kal_dir here;
    struct kal_file file;
    void* map;
    char* bytes;

    if (kal_fs_preopen(0, &here, 0, 0, &length) != kal_ok ||
        kal_fs_open(here, "sparse", 6, KAL_OPEN_READ | KAL_OPEN_WRITE, &file) != kal_ok ||
        kal_map_file(file, 0, SIZE, KAL_MAP_READ | KAL_MAP_WRITE, &map) != kal_ok)
        return 1;
    kal_fs_close_file(file);
    bytes = map;
    for (kal_uintptr at = STEP - 2; at < SIZE; at += STEP) {
        found += bytes[at] != 0;
        bytes[at + 1] = 'M';
    }
    say_number(found);
    return kal_map_flush(map, SIZE) == kal_ok && kal_map_release(map, SIZE) == kal_ok ? 0 : 2;
}
