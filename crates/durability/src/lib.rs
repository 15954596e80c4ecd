//! How likely data is lost: components that fail and come back, repair that takes its time, and rare events estimated without bias.
//!
//! A [`Model`] is a system that fails and heals, told from one failure to the next. [`rare`] estimates from any model how likely it
//! loses data within a mission: plainly, by importance sampling, or by splitting. [`system`] is the model of a storage system: parts,
//! sets of pieces, failures of many kinds, and repair at the speed that what is left can give.

mod error;
pub mod input;
mod model;
pub mod rare;
mod sums;
pub mod system;

pub use error::DurabilityError;
pub use model::{Draws, Hazard, Loss, Model};
pub use sums::{BatchSums, Method};
