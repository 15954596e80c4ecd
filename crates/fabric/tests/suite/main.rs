//! The tests of the crate from outside, in one binary: the core is compiled into it once.

mod harness;

mod alone;
mod faults;
mod interface_lanes;
mod lanes;
mod queueing;
mod routing;
mod slow;
mod spares;
mod topologies;
mod twin;
