//! From an input and a rule to devices, one input at a time.

pub(super) mod attempts;
pub(super) mod choose;
pub(super) mod draw;
mod drawn;
pub(super) mod firstn;
pub mod hash;
pub(super) mod hashing;
pub(super) mod indep;
pub(super) mod ln;
pub(super) mod msr;
#[cfg(test)]
mod msr_twin;
pub(super) mod place;
