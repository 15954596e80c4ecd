//! Work in parts, by all threads.

use rayon::prelude::*;

/// What `work` makes of each of so many parts, in their order.
///
/// It is called through a pointer, so that one parallel iterator serves all work of one result: each of its own takes 7 kB of code, and a
/// part is hundreds of calls.
pub(crate) fn in_parts<T: Send>(parts: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    (0..parts).into_par_iter().map(work).collect()
}
