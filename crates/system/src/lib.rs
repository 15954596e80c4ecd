//! One storage system, composed of placement, population, devices and a fabric, and how it heals after a failure.

mod affected;
mod checker;
mod config;
mod faults;
mod forward;
mod groups;
mod outcome;
mod rebuild;
mod rows;
mod scan;
mod search;
mod simulation;
mod stages;
mod work;

pub use affected::{AffectedBatch, AffectedSearch};
pub use checker::ConservationError;
pub use config::{Algorithm, Contents, CrushPlacement, PlaceScratch, PlacedPool, Placement, SystemConfig};
pub use faults::choose_failed;
pub use forward::ForwardInverse;

pub use outcome::{DeviceOutcome, Level, Outcome, Transfer, Wasted};
pub use rebuild::{EventOf, Rebuild, RebuildPolicy, Wiring};
pub use scan::{AffectedObject, FileScan, GroupContents, Scanned, scan_groups};
pub use search::GroupOutcome;
pub use simulation::{Moved, Phase, Report, Simulation};
pub use work::{Losses, ObjectOrder, Pull, SourceChoice, WorkList};

use resilver_kernel::KernelError;
use resilver_population::PopulationError;
use thiserror::Error;

/// Why a system cannot be simulated.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SystemError {
    /// More copies move than can be numbered.
    #[error("more than 2^32 copies would have to be moved: fail fewer devices, or store fewer objects")]
    TooManyPulls,
    /// A memory pool smaller than one buffer, which would never let a transfer begin.
    #[error(
        "recovery.pipeline_buffer = {buffer} B does not fit into recovery.{pool} = {memory} B: enlarge the memory or use \
         a smaller buffer"
    )]
    BufferTooLarge {
        /// Which pool.
        pool: &'static str,
        /// The buffer in bytes.
        buffer: u64,
        /// The pool in bytes.
        memory: u64,
    },
    /// A buffer of no size.
    #[error("recovery.pipeline_buffer = 0 B: it must be at least 1 B")]
    EmptyBuffer,
    /// An object of more buffers than can be numbered.
    #[error(
        "recovery.pipeline_buffer = {buffer} B divides an object of {object} B into more than 2^31 buffers: use a larger \
         buffer"
    )]
    TooManyBuffers {
        /// The buffer in bytes.
        buffer: u64,
        /// The object in bytes.
        object: u64,
    },
    /// The population cannot be built.
    #[error(transparent)]
    Population(#[from] PopulationError),
    /// The event kernel gave up.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The model broke a conservation law: a bug.
    #[error(transparent)]
    Conservation(#[from] ConservationError),
}
