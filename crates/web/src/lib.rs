//! The border to WebAssembly: a run begun from the JSON that the native border takes, stepped, and answered as tables.
//!
//! A plain C ABI, so that no tool but the compiler makes the module and `core.mjs` beside it is all that a page needs. Numbers and
//! bytes in the module's memory are all that crosses:
//!
//! 1. `resilver_allocate` makes room for the JSON and for the CRUSH maps, which the caller fills in.
//! 2. `resilver_begin` takes both and gives a session, whatever they say: what cannot begin is an answer too.
//! 3. `resilver_advance` works on; `resilver_answer` and `resilver_answer_length` say where the answer is (`answer.rs`): how far the run
//!    is, what it came to, or what is wrong.
//! 4. `resilver_end` drops the run, at its end or before.
//!
//! Where a defect or want of memory ends the module, `resilver_trap` says why; its memory can still be read, and nothing else be called.

mod answer;
mod columns;
mod session;
mod trap;

use session::{Session, Work};

/// The kinds of run by their numbers in `core.mjs`.
const KINDS: [Work; 2] = [Work::System, Work::Cluster];

/// Room for bytes that the caller fills in; null where there is none.
#[unsafe(no_mangle)]
pub extern "C" fn resilver_allocate(length: usize) -> *mut u8 {
    let mut bytes: Vec<u8> = Vec::new();
    if bytes.try_reserve_exact(length).is_err() {
        return std::ptr::null_mut();
    }
    bytes.resize(length, 0);
    Box::into_raw(bytes.into_boxed_slice()).cast::<u8>()
}

/// Takes room back that `resilver_allocate` gave.
///
/// # Safety
/// `pointer` came of `resilver_allocate` with this length, and is not used again.
unsafe fn taken(pointer: *mut u8, length: usize) -> Vec<u8> {
    // SAFETY: the caller says that this is the boxed slice that was given away.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(pointer, length)) }.into_vec()
}

/// Begins a run: of a system (0) or of a Ceph cluster (1), from its JSON and the CRUSH maps beside it, each in Ceph's binary form with
/// its length before it (32 bits, the lowest byte first).
///
/// # Safety
/// Both places came of `resilver_allocate` with these lengths; they are taken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn resilver_begin(
    kind: usize,
    text: *mut u8,
    text_length: usize,
    maps: *mut u8,
    maps_length: usize,
) -> *mut Session {
    trap::listen();
    // SAFETY: as this function asks.
    let (text, maps) = unsafe { (taken(text, text_length), taken(maps, maps_length)) };
    Box::into_raw(Box::new(Session::new(KINDS.get(kind).copied(), text, &maps)))
}

/// Works on for so many steps, each a small part of a second, or to the end; returns whether there is more to come.
///
/// # Safety
/// `session` came of `resilver_begin` and has not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn resilver_advance(session: *mut Session, steps: usize) -> bool {
    // SAFETY: as this function asks; one caller at a time, as WebAssembly has one thread.
    unsafe { &mut *session }.advance(steps)
}

/// Where the answer is; it stays there until the next step.
///
/// # Safety
/// `session` came of `resilver_begin` and has not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn resilver_answer(session: *const Session) -> *const u8 {
    // SAFETY: as this function asks.
    unsafe { &*session }.answer().as_ptr()
}

/// How many bytes the answer has.
///
/// # Safety
/// `session` came of `resilver_begin` and has not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn resilver_answer_length(session: *const Session) -> usize {
    // SAFETY: as this function asks.
    unsafe { &*session }.answer().len()
}

/// Drops a run.
///
/// # Safety
/// `session` came of `resilver_begin`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn resilver_end(session: *mut Session) {
    // SAFETY: as this function asks.
    drop(unsafe { Box::from_raw(session) });
}

/// Where it is said why the module ended.
#[unsafe(no_mangle)]
pub extern "C" fn resilver_trap() -> *const u8 {
    trap::text().as_ptr()
}

/// How many bytes say why the module ended; none while it works.
#[unsafe(no_mangle)]
pub extern "C" fn resilver_trap_length() -> usize {
    trap::text().len()
}
