//! Every topology against breadth-first search and brute force.

mod entries;
mod instances;
mod measures;
mod next_hops;
mod study;
