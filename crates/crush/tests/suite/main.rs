//! The tests of the crate from outside, in one binary: the core is compiled into it once.

mod common;
#[path = "common/crushtool.rs"]
mod crushtool;
#[path = "common/pools.rs"]
mod pools;
#[path = "common/sha256.rs"]
mod sha256;

mod again;
mod balance;
mod batch;
mod edits;
mod formats;
mod fuzz_maps;
mod golden;
mod hostile_maps;
mod metamorphic;
mod msr;
mod oracle_crushtool;
mod oracle_osdmaptool;
mod real_clusters;
mod vring;
