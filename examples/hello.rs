//! The smallest image in Rust, without its standard library: greets, and returns the number of its arguments.
//! rustc --crate-type=staticlib -O -Cpanic=abort -Cforce-frame-pointers examples/hello.rs -o libhello.a
//! okld build libhello.a -o hello.ok && okrun hello.ok
#![no_std]

use core::panic::PanicInfo;

/// `struct kal_stream`: a handle.
#[repr(C)]
pub struct Stream {
    h: usize,
}

extern "C" {
    fn kal_stdout() -> Stream;
    fn kal_stream_write(stream: Stream, bytes: *const u8, length: usize) -> isize;
    fn kal_abort(message: *const u8, length: usize) -> !;
}

fn say(text: &str) -> bool {
    unsafe { kal_stream_write(kal_stdout(), text.as_ptr(), text.len()) >= 0 }
}

/// What the start code calls; an image that brings `_start` itself has no arguments fetched.
#[no_mangle]
pub extern "C" fn main(arguments: i32, _values: *const *const u8) -> i32 {
    if say("hello from Rust\n") {
        arguments - 1
    } else {
        255
    }
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    unsafe { kal_abort("panic".as_ptr(), 5) }
}
