//! The tests of the crate from outside, in one binary: the core is compiled into it once.

mod common;

mod affected;
mod clients;
mod closed_forms;
mod coded;
mod failures;
mod lanes;
mod recovery;
mod scenario;
mod simulation;
mod software;
mod stored_requests;
mod streams;
mod streams_and_faults;
