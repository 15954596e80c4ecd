//! A tree of folders, read by many threads: what each file is, holds and occupies, in batches of rows.
//!
//! This crate reads from the machine that it runs on, as no model does; it knows none of them, and none knows it. What a walk waits for is the file system, so
//! that more threads than processors pay where that answers over a network. Memory is bounded by the folders still to be read, and by the files of several names
//! that were met under some of them.

mod entries;
mod layout;
mod queue;
mod rows;
mod walk;

pub use layout::{attribute, stripes};
pub use rows::{Kind, Rows, Texts};
pub use walk::{LeftOut, Options, Progress, Totals, Walk};
