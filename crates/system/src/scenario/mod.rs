//! What a system is: said once, and read by all that simulate, count and report.

mod carried;
mod choice;
mod class;
mod codes;
mod config;
mod detecting;
mod devices;
pub(crate) mod faults;
mod lanes;
mod policy;
mod positions;
mod reading;
mod request_traffic;
mod rows;
mod stream_traffic;
mod study_faults;

pub use choice::{ObjectOrder, SourceChoice};
pub use class::TrafficClass;
pub use codes::PoolCode;
pub(crate) use codes::PoolCodes;
pub use config::{
    Algorithm, CodeConfig, Contents, CrushPlacement, FabricConfig, PlaceScratch, Placement, StoredPool, SystemConfig,
};
pub(crate) use config::{Numbering, REWEIGHT_FULL, devices_of};
pub use detecting::Detected;
pub(crate) use devices::spread_in_range;
pub use devices::{DeviceKind, Devices, Discipline, drawn_speeds};
pub use lanes::LanesConfig;
pub use policy::{Driver, RecoveryPolicy, RetryPolicy, SoftwareLimits};
pub use reading::{read, system_of};
pub(crate) use request_traffic::NO_OBJECT;
pub use request_traffic::{Arrivals, FlowLaw, MetadataRequest, RequestClass, Targets, TraceRequest, Traffic};
pub(crate) use stream_traffic::pace_of;
pub use stream_traffic::{Bursts, Corruption, Job, Pairing, StreamTraffic, StripesOf};
pub use study_faults::StudyFaults;
