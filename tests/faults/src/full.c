/* full: in a directory in which there is no room for another file, nothing can be made, and what is there can be used
 * and removed; then there is room. */
#include "faults.h"

static void cannot_make(struct kal_dir here)
{
    struct kal_file file = {77};

    EXPECT(open_file(here, "more", KAL_OPEN_WRITE | KAL_OPEN_CREATE, &file) == kal_err_no_space && file.h == 77);
    EXPECT(kal_fs_mkdir(here, "more", 4) == kal_err_no_space);
    EXPECT(kal_fs_link_create(here, "more", 4, "there", 5, 0) == kal_err_no_space);
}

int main(void)
{
    const struct kal_dir here = directory(0);
    struct kal_file file;
    char byte = 0;

    cannot_make(here);
    EXPECT(open_file(here, "there", KAL_OPEN_READ, &file) == kal_ok);
    EXPECT(kal_stream_read(kal_fs_stream(file), &byte, 1) == 1 && byte == 'x');
    kal_fs_close_file(file);
    EXPECT(kal_fs_rename(here, "there", 5, here, "that", 4) == kal_ok);
    cannot_make(here);
    EXPECT(kal_fs_remove(here, "that", 4) == kal_ok);
    EXPECT(kal_fs_mkdir(here, "more", 4) == kal_ok);
    return 0;
}
