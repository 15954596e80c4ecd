//! One storage system, composed of placement, population, devices and a fabric, and how it heals after a failure.

mod affected;
mod checker;
mod clients;
mod conclusion;
mod event;
mod file_words;
mod flows;
mod forward;
mod groups;
mod handle;
mod parallel;
mod parts;
mod plant;
mod ports;
mod recovery;
mod running;
mod scan;
mod scenario;
mod search;
mod simulation;
mod storage;
mod tables;
mod trace;

pub use affected::{AffectedBatch, AffectedSearch};
pub use checker::ConservationError;
pub use clients::Workload;
pub use clients::measures::{
    Bar, ClientOutcome, Counts, Delays, JobBurst, Period, PeriodOutcome, PieceCounts, Rates, ServerOutcome,
    StreamOutcome, StripeGroup, TrafficInterval,
};
pub use conclusion::{Conclusion, FlowOutcome, FlowRow, FlowsOf, LayerRow};
pub use event::EventOf;
pub use file_words::FileWords;
pub use forward::ForwardInverse;
pub use parts::{Part, PopulationScan};
pub use plant::{LaneReport, Network, PartUse, Plant};
pub use ports::Ports;
pub use recovery::limits::{Limit, LimitKind, Limits};
pub use recovery::outcome::{Coded, DeviceOutcome, Level, Outcome, PoolOutcome, Transfer, Wasted};
pub use recovery::{Losses, Recovery, RecoveryChoices, RecoveryWork};
pub use running::Moved;
pub use scan::{AffectedObject, FileScan, Scanned};
pub use scenario::faults::{Ask, Fault, LevelNames, Named, Names, PartsOfLevel, Wanted, choose_failed, named_faults};
pub use scenario::{
    Algorithm, Arrivals, Bursts, CodeConfig, Contents, Corruption, CrushPlacement, Detected, DeviceKind, Devices,
    Discipline, Driver, FabricConfig, FlowLaw, Job, LanesConfig, MetadataRequest, ObjectOrder, Pairing, PlaceScratch,
    Placement, PoolCode, RecoveryPolicy, RequestClass, RetryPolicy, SoftwareLimits, SourceChoice, StoredPool,
    StreamTraffic, StripesOf, StudyFaults, SystemConfig, Targets, TraceRequest, Traffic, TrafficClass, drawn_speeds,
    read, system_of,
};
pub use search::GroupOutcome;
pub use simulation::{Phase, Report, Simulation};
pub use storage::Storage;
pub use tables::{Column, Metric, Metrics, Table, metrics, tables, trace_tables};
pub use trace::{TraceRows, TraceWindow};

use resilver_kernel::KernelError;
use resilver_population::PopulationError;
use resilver_redundancy::CodeError;
use resilver_units::{ErrorClass, Refusal};
use thiserror::Error;

/// Why a system cannot be simulated.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SystemError {
    /// More pieces come to devices than can be numbered.
    #[error("more than 2^31 pieces would have to be moved: fail fewer devices, or store fewer objects")]
    TooManyTasks,
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
    /// A memory pool smaller than the buffers that one buffer of a piece is made of.
    #[error(
        "recovery.pipeline_buffer = {buffer} B from each of {sources} sources does not fit into recovery.receive_memory = \
         {memory} B: enlarge the memory or use a smaller buffer"
    )]
    GatherTooLarge {
        /// The buffer in bytes.
        buffer: u64,
        /// How many sources a piece may be made of.
        sources: u32,
        /// The pool in bytes.
        memory: u64,
    },
    /// A placement that asks for another number of pieces than the code has.
    #[error("redundancy.code has {pieces} pieces, but the placement finds devices for {placed}: make them equal")]
    PiecesNotPlaced {
        /// Pieces of the code.
        pieces: u64,
        /// Pieces that placement asks for.
        placed: u64,
    },
    /// More buffers at a time than can be numbered.
    #[error(
        "more than 2^28 buffers are under way at a time: lower recovery.receive_memory, or raise recovery.pipeline_buffer"
    )]
    TooManyBuffersUnderWay,
    /// More files of a pool than can be told from those of the next one.
    #[error(
        "pools.{pool}: {files} files are more than the {most} that each of so many pools may have: store larger files"
    )]
    TooManyFilesOfPool {
        /// Which pool, from 0.
        pool: usize,
        /// How many files.
        files: u64,
        /// How many there may be.
        most: u64,
    },
    /// More codes than can be told apart.
    #[error("pools: they have more than 256 different codes; simulate fewer pools at a time")]
    TooManyCodes,
    /// A buffer of no size.
    #[error("recovery.pipeline_buffer = 0 B: it must be at least 1 B")]
    EmptyBuffer,
    /// An object of more buffers than can be numbered.
    #[error(
        "recovery.pipeline_buffer = {buffer} B divides an object of {object} B into more than 2^30 buffers: use a larger \
         buffer"
    )]
    TooManyBuffers {
        /// The buffer in bytes.
        buffer: u64,
        /// The object in bytes.
        object: u64,
    },
    /// An object that is said to be affected and is not.
    #[error(
        "parts: object {object} is not an affected object of this system and seed, or its size is another; pass the parts \
         that scans of the same system and seed gave"
    )]
    ForeignObject {
        /// Its number.
        object: u64,
    },
    /// Clients that cannot be simulated.
    #[error("traffic.{field} = {value}: {rule}")]
    Traffic {
        /// The field that is wrong.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        rule: &'static str,
    },
    /// A fabric that cannot be simulated.
    #[error("{0}")]
    Fabric(String),
    /// A part that the system does not have.
    #[error("{part} {number}: the system has {count} of them, numbered from 0")]
    NoSuchPart {
        /// What is meant.
        part: &'static str,
        /// The number given.
        number: u32,
        /// How many there are.
        count: u32,
    },
    /// More requests at a time than can be numbered.
    #[error("more than 2^25 requests wait for an answer at a time: lower their rate, or set traffic.timeout")]
    TooManyRequests,
    /// More operations at a time than can be numbered.
    #[error("more than 2^25 operations of streams are under way at a time: lower streams.window")]
    TooManyOperations,
    /// A rebuild that clients keep from ever being served.
    #[error(
        "cluster.queue: a device served {} requests of clients in a row that came after a request of the rebuild, so this \
         rebuild may never end: use queue = \"fifo\", a share such as lanes = {{ clients = 0.9 }}, or fewer requests",
        storage::STARVED_AFTER
    )]
    Starved,
    /// A population that is not scanned.
    #[error("a system that stores nothing is not scanned, nor are several pools in parts: simulate it as a whole")]
    NothingToScan,
    /// More files than can be numbered, or that hold more than 64-bit sums do.
    #[error("files = {files} from {first}: they must lie below 2^36 and hold 4 EiB at the most; scan fewer at a time")]
    PartTooLarge {
        /// The first file.
        first: u64,
        /// How many.
        files: u64,
    },
    /// A code that cannot be built.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// A trace of more rows than are kept.
    #[error(
        "trace = {from} s..{to} s: the table {table} has more than {rows_max} rows of that time; trace a shorter one"
    )]
    TraceTooLong {
        /// When the trace begins, in seconds.
        from: f64,
        /// When it ends.
        to: f64,
        /// The table.
        table: &'static str,
        /// How many rows it may have.
        rows_max: usize,
    },
    /// What is said of a system and cannot be.
    #[error("{0}")]
    Described(String),
    /// A map, a rule or a layout that cannot be used.
    #[error("{0}")]
    Placement(String),
    /// Faults of what a system has not.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Faults(Vec<Refusal>),
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

impl SystemError {
    /// What it is about.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            SystemError::Kernel(_) | SystemError::Conservation(_) => ErrorClass::Simulation,
            SystemError::Placement(_) => ErrorClass::Placement,
            _ => ErrorClass::Config,
        }
    }
}
