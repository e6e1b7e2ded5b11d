/* fill NAME SIZE: writes to a file, SIZE bytes a time, until that is refused; says how many bytes were reported written
 * and the error, a line. */
#include "faults.h"

int main(int argc, char** argv)
{
    static kal_u8 bytes[1 << 16];
    const kal_uintptr size = argc == 3 ? number_of(argv[2]) : 0;
    kal_u64 written = 0;
    struct kal_file file;
    struct kal_stream stream;
    kal_intptr moved;

    EXPECT(size != 0 && size <= sizeof bytes);
    EXPECT(open_file(directory(0), argv[1], KAL_OPEN_WRITE | KAL_OPEN_CREATE, &file) == kal_ok);
    stream = kal_fs_stream(file);
    do {
        for (kal_uintptr i = 0; i < size; i++)
            bytes[i] = (kal_u8)((written + i) * 7 + (written + i) / 251);
        moved = kal_stream_write(stream, bytes, size);
        written += moved > 0 ? (kal_u64)moved : 0;
    } while (moved > 0);
    say_number(kal_stdout(), written);
    say(kal_stdout(), " ");
    say_number(kal_stdout(), (kal_u64)-moved);
    say(kal_stdout(), "\n");
    return 0;
}
