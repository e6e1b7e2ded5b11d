/* Prints the names of the directories that it is given, a line each; and of the last one the file that is named. */
#include <openkal/env.h>
#include <openkal/fs.h>

#include "text.h"

int main(void)
{
    static char text[4096];
    struct kal_dir dir;
    struct kal_file file;
    kal_uintptr size;
    kal_intptr length;

    for (kal_uintptr i = 0; i < kal_fs_preopen_count(); i++) {
        int error = kal_fs_preopen(i, &dir, text, sizeof text, &size);

        if (error)
            return error;
        put(text, size);
        say("\n");
    }
    length = kal_env_arg(1, text, sizeof text);
    if (length < 0)
        return 0;
    return kal_fs_open(dir, text, (kal_uintptr)length, KAL_OPEN_READ, &file) ||
           put(text, (kal_uintptr)kal_stream_read(kal_fs_stream(file), text, sizeof text)) < 0;
}
