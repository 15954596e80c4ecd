//! What is counted of clients and of operations, and the laws that the counts are held to.

pub(crate) mod clients;
pub(crate) mod operations;
mod outcome;
mod periods;
mod streams;

pub use outcome::{Bar, ClientOutcome, Counts, Delays, PieceCounts, ServerOutcome, TrafficInterval};
pub(crate) use periods::together;
pub use periods::{Period, PeriodOutcome};
pub use streams::{JobBurst, Rates, StreamOutcome, StripeGroup};
