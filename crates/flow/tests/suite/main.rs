//! The tests of steady flows.

mod laws;
mod running;
mod systems;
