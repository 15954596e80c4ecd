//! The quantities that cross the interfaces of resilver: simulated time, bytes, rates and typed indexes.
//!
//! Nothing crosses an interface as a bare number. Each type is a transparent wrapper around one machine word, so the
//! compiler keeps the meanings apart and the processor sees plain integers.

mod bytes;
pub mod elementary;
mod error_class;
mod index;
mod json;
mod ladder;
mod rate;
mod refusal;
mod time;

pub use bytes::Bytes;
pub use error_class::ErrorClass;
pub use index::{DeviceId, EndpointId, GroupId, ObjectId};
pub use json::json_path;
pub use ladder::SizeLadder;
pub use rate::{BytesPerSecond, RateError, TimePerByte};
pub use refusal::Refusal;
pub use time::{SimDuration, SimTime, TimeError};
