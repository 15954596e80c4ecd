//! From an input and a rule to devices, one input at a time.

pub(crate) mod attempts;
pub(crate) mod choose;
pub(crate) mod contenders;
pub(crate) mod draw;
mod drawn;
pub(crate) mod enough;
pub(crate) mod firstn;
pub(crate) mod hashing;
pub(crate) mod indep;
pub(crate) mod ln;
pub(crate) mod msr;
#[cfg(test)]
mod msr_twin;
#[cfg(target_arch = "x86_64")]
pub(crate) mod wide;
