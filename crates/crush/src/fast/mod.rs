//! Many inputs at a time, or only those that may choose what failed; each road answers as the plain one.

pub(crate) mod batch;
pub(crate) mod screen;
