//! What a piece of data needs to survive, and what its repair takes.
//!
//! Redundancy knows nothing of time, devices or placement: it is told how many pieces of an object survived, how many were
//! lost and how many devices are there to take new ones, and says what can be done.

mod replicas;

pub use replicas::{Repair, Replicas};
