//! What ends the module: a panic, which is a defect, or an allocation that the memory has no room for.
//!
//! Neither can be caught in WebAssembly. What is known of it is kept where it can be read behind the trap, without asking for memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write;
use std::panic::PanicHookInfo;
use std::sync::{Mutex, PoisonError};

/// What to do where memory is short.
const REMEDY: &str = "simulate fewer devices, groups or objects, or run it outside of the browser";
/// Bytes of the text at the most.
const ROOM: usize = 1024;

struct Text {
    bytes: [u8; ROOM],
    length: usize,
}

static TEXT: Mutex<Text> = Mutex::new(Text { bytes: [0; ROOM], length: 0 });

impl Write for Text {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        // What has no room is left out, and not half of a character.
        let end = (0..=text.len().min(ROOM - self.length)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        self.bytes[self.length..self.length + end].copy_from_slice(&text.as_bytes()[..end]);
        self.length += end;
        Ok(())
    }
}

/// Keeps what the first trap says: a second one follows from it.
fn keep(text: std::fmt::Arguments<'_>) {
    let mut kept = TEXT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.length == 0 {
        // Text takes all that it is given.
        let _ = kept.write_fmt(text);
    }
}

/// Why the module ended; nothing while it works.
pub fn text() -> &'static [u8] {
    let kept = TEXT.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the text is static, and is written once, before anybody reads it: whoever traps does not return.
    unsafe { std::slice::from_raw_parts(kept.bytes.as_ptr(), kept.length) }
}

/// Keeps what panics say from now on.
pub fn listen() {
    if cfg!(target_family = "wasm") {
        std::panic::set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
            let payload = panic.payload();
            let owned = payload.downcast_ref::<String>().map(String::as_str);
            let said = payload.downcast_ref::<&str>().copied().or(owned).unwrap_or("a panic");
            if said == "capacity overflow" {
                return keep(format_args!("the run needs more memory than can be asked for: {REMEDY}"));
            }
            let place = panic.location().map_or("", |place| place.file());
            let line = panic.location().map_or(0, |place| place.line());
            keep(format_args!(
                "{said} ({place}:{line}): this is a defect of resilver, please report it with the input"
            ));
        }));
    }
}

/// The usual allocator, which tells of what it has no room for.
struct Telling;

// SAFETY: all is handed on to the system's allocator.
unsafe impl GlobalAlloc for Telling {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        told(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        told(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller says.
        told(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller says.
        unsafe { System.dealloc(pointer, layout) };
    }
}

#[inline]
fn told(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        lacks(size);
    }
    pointer
}

#[cold]
fn lacks(size: usize) {
    keep(format_args!("the run needs {size} B more memory than there is: {REMEDY}"));
}

#[global_allocator]
static ALLOCATOR: Telling = Telling;
