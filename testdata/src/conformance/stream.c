/* Standard input is at its end; the directory "devices", where it is given, has a file "full" that has no room. */
#define INTERFACE "stream"
#include "place.h"

static unsigned char large[1 << 20], back[1 << 20];

static void standard(void)
{
    char byte = 'u';

    CHECK(kal_stdin, "is no 0, and the same at every call", kal_stdin().h != 0 && kal_stdin().h == kal_stdin().h);
    CHECK(kal_stdout, "is no 0, and the same at every call", kal_stdout().h != 0 && kal_stdout().h == kal_stdout().h);
    CHECK(kal_stderr, "is no 0, and the same at every call", kal_stderr().h != 0 && kal_stderr().h == kal_stderr().h);
    CHECK(kal_stdin, "is at its end", kal_stream_read(kal_stdin(), &byte, 1) == 0 && byte == 'u');
    CHECK(kal_stdout, "is another than kal_stdin", kal_stdout().h != kal_stdin().h);
    CHECK(kal_stderr, "can be written", kal_stderr().h != kal_stdin().h && kal_stream_write(kal_stderr(), "", 0) == 0);
}

static void moves(struct kal_file file)
{
    struct kal_stream stream = kal_fs_stream(file);
    kal_uintptr size = 0;
    kal_intptr n;

    for (kal_uintptr i = 0; i < sizeof large; i++)
        large[i] = (unsigned char)(i * 7 + i / 256);
    CHECK(kal_stream_write, "moves the whole buffer", kal_stream_write(stream, large, sizeof large) == sizeof large);
    CHECK(kal_stream_flush, "what was written can be flushed", kal_stream_flush(stream) == kal_ok);
    kal_fs_seek(file, 0, KAL_SEEK_SET, 0);
    while ((n = kal_stream_read(stream, back + size, sizeof back - size)) > 0)
        size += (kal_uintptr)n;
    CHECK(kal_stream_read, "gives what was written", size == sizeof back && same(large, back, size));
    CHECK(kal_stream_read, "0 is the end", kal_stream_read(stream, back, sizeof back) == 0);
    CHECK(kal_stream_read, "a length of 0 is 0",
          kal_stream_read(stream, back, 0) == 0 && kal_stream_read(stream, 0, 0) == 0);
    CHECK(kal_stream_write, "a length of 0 is 0",
          kal_stream_write(stream, back, 0) == 0 && kal_stream_write(stream, 0, 0) == 0);
    CHECK(kal_stream_read, "null with a length is kal_err_invalid", kal_stream_read(stream, 0, 1) == -kal_err_invalid);
    CHECK(kal_stream_write, "null with a length is kal_err_invalid",
          kal_stream_write(stream, 0, 1) == -kal_err_invalid);
    CHECK(kal_stream_read, "more than half the address space is kal_err_invalid",
          kal_stream_read(stream, back, TOO_LONG) == -kal_err_invalid);
    CHECK(kal_stream_write, "more than half the address space is kal_err_invalid",
          kal_stream_write(stream, back, TOO_LONG) == -kal_err_invalid);
    CHECK(kal_stream_read, "may be short",
          (kal_fs_seek(file, -3, KAL_SEEK_END, 0), kal_stream_read(stream, back, 10)) == 3);
}

static void channels(void)
{
    struct kal_stream mine, theirs;
    char byte = 0;

    kal_process_channel(&mine, &theirs);
    CHECK(kal_stream_read, "gives what is there without waiting for more",
          kal_stream_write(mine, "ab", 2) == 2 && kal_stream_read(theirs, back, 10) == 2 && back[1] == 'b');
    kal_process_channel_close(theirs);
    CHECK(kal_stream_read, "what nobody can write to any more is at its end", kal_stream_read(mine, &byte, 1) == 0);
    CHECK(kal_stream_write, "what nobody can read any more is kal_err_closed",
          kal_stream_write(mine, "x", 1) == -kal_err_closed);
    kal_process_channel_close(mine);
}

static void full(void)
{
    struct kal_dir devices = given("devices");
    struct kal_file file = opened(devices, "full", KAL_OPEN_WRITE);

    if (file.h)
        CHECK(kal_stream_write, "no room is kal_err_no_space",
              kal_stream_write(kal_fs_stream(file), "x", 1) == -kal_err_no_space);
    else
        UNOBSERVED(kal_stream_write, "no room is kal_err_no_space");
    kal_fs_close_file(file);
    kal_fs_close_dir(devices);
}

int main(void)
{
    struct kal_dir here = place();
    struct kal_file file = made(here, "bytes", ""), closed = opened(here, "bytes", KAL_OPEN_READ);
    const struct kal_stream gone = kal_fs_stream(closed);

    standard();
    moves(file);
    channels();
    full();
    CHECK(kal_stream_write, "what is open to read is kal_err_permission",
          kal_stream_write(gone, "x", 1) == -kal_err_permission);
    CHECK(kal_stream_props, "a file is not interactive",
          (kal_stream_props(kal_fs_stream(file)) & KAL_STREAM_PROP_INTERACTIVE) == 0);
    CHECK(kal_stream_props, "unassigned positions are 0",
          ((kal_stream_props(kal_stdout()) | kal_stream_props(gone)) & ~KAL_STREAM_PROP_INTERACTIVE) == 0);
    CHECK(kal_stream_flush, "nothing to flush is kal_ok",
          kal_stream_flush(kal_stdin()) == kal_ok && kal_stream_flush(kal_stdout()) == kal_ok);
    kal_fs_close_file(closed);
    REFUSES(kal_stream_write, gone.h, file.h, kal_stream_write((struct kal_stream){word}, "x", 1) == -kal_err_invalid);
    REFUSES(kal_stream_read, gone.h, file.h, kal_stream_read((struct kal_stream){word}, back, 1) == -kal_err_invalid);
    REFUSES(kal_stream_flush, gone.h, file.h, kal_stream_flush((struct kal_stream){word}) == kal_err_invalid);
    REFUSES(kal_stream_props, gone.h, file.h, kal_stream_props((struct kal_stream){word}) == 0);
    return summary();
}
