//! Many inputs at a time, or only those that may choose what failed; each road answers as the plain one.

pub(super) mod batch;
pub(super) mod contenders;
pub(super) mod lanes;
pub(super) mod screen;
#[cfg(target_arch = "x86_64")]
pub(super) mod wide;
