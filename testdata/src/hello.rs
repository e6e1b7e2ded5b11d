//! rust [ARGUMENT...]: prints `hello from Rust` and the number of arguments after the image's name. Status: that number.
#![no_std]
#![no_main]

use core::ffi::c_void;

#[repr(C)]
#[derive(Clone, Copy)]
struct Stream {
    h: usize,
}

extern "C" {
    fn kal_stdout() -> Stream;
    fn kal_stream_write(stream: Stream, buf: *const c_void, len: usize) -> isize;
    fn kal_env_arg_count() -> usize;
}

/// The note of SPEC chapter 3: openkal 0.20.0, openkal.stream and openkal.env required.
#[repr(C)]
struct Note {
    sizes_and_type: [u32; 3],
    owner: [u8; 8],
    revision_flags: [u32; 2],
    words: [[u32; 2]; 4],
}

#[used]
#[link_section = ".note.openkal"]
static NOTE: Note = Note {
    sizes_and_type: [8, 40, 1],
    owner: *b"openkal\0",
    revision_flags: [1, 0],
    words: [[0x140000, 0], [1 << 1 | 1 << 3, 0], [0, 0], [0, 0]],
};

fn say(bytes: &[u8]) {
    unsafe {
        kal_stream_write(kal_stdout(), bytes.as_ptr().cast(), bytes.len());
    }
}

#[no_mangle]
pub extern "C" fn _start() -> i32 {
    let arguments = unsafe { kal_env_arg_count() }.wrapping_sub(1);
    say(b"hello from Rust ");
    say(&[b'0' + (arguments % 10) as u8]);
    say(b"\n");
    arguments as i32
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
