//! The tests of the crate from outside, in one binary: the core is compiled into it once.

mod codes;
mod plugins;
mod products;
mod trees;
