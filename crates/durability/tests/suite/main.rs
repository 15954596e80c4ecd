//! Tests of the crate as a whole.

mod chains;
mod rare_laws;
mod rare_truth;
mod system;
