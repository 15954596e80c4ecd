//! The event kernel: a queue of plain events in time order, the loop that executes them, keyed random streams, the
//! digest of a run, statistics that need no history, and the order in which ports serve several lanes.
//!
//! A model owns its state and implements [`Model`]; a [`Schedule`] owns the clock and the pending events; [`run`] joins
//! them until a [`Limit`]. Events are executed in the order of (time, order of scheduling), and every random draw is a
//! pure function of (seed, purpose, entity, draw number), so a run gives the same [`Digest`] wherever it happens.
//!
//! ```
//! use resilver_kernel::{Event, ExitReason, Limit, Model, Schedule, run};
//! use resilver_units::{SimDuration, SimTime};
//!
//! #[derive(Clone, Copy)]
//! struct Tick(u64);
//! impl Event for Tick {
//!     fn code(&self) -> u64 {
//!         self.0
//!     }
//! }
//! struct Clock {
//!     period: SimDuration,
//! }
//! impl Model for Clock {
//!     type Event = Tick;
//!     fn execute(&mut self, Tick(left): Tick, schedule: &mut Schedule<Tick>) {
//!         if left > 0 {
//!             schedule.after(self.period, Tick(left - 1));
//!         }
//!     }
//! }
//!
//! let mut schedule = Schedule::new();
//! schedule.at(SimTime::ZERO, Tick(3));
//! let mut clock = Clock { period: SimDuration::from_picoseconds(5) };
//! assert_eq!(run(&mut clock, &mut schedule, Limit::none()), Ok(ExitReason::Drained));
//! // Four ticks, at 0, 5, 10 and 15 ps.
//! assert_eq!(schedule.now(), SimTime::from_picoseconds(15));
//! assert_eq!(schedule.executed(), 4);
//! ```

mod digest;
pub mod film;
pub mod lanes;
mod pace;
mod prefetch;
pub mod queue;
mod run;
mod schedule;
pub mod stats;
mod stream;

pub use digest::Digest;
pub use pace::Pace;
pub use prefetch::prefetch;
pub use run::{ExitReason, Limit, Model, run};
pub use schedule::{Event, KernelError, Schedule};
pub use stream::{Purpose, Stream, exp, ln, philox4x64};
