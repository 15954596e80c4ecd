//! CRUSH, bit for bit: maps, rules and the choice of devices, as Ceph's clusters do it.
#![doc = include_str!("../README.md")]

pub mod balance;
mod choosing;
mod edit;
mod fast;
mod formats;
pub mod hash;
mod lanes;
mod map;
mod points;
pub mod pool;

pub use choosing::choose::Scratch;
pub use edit::Location;
pub use fast::batch::{Batch, BatchScratch, SHORT};
pub use fast::screen::{Candidate, FlatScreen, ScreenScratch};
pub use lanes::Lanes;
pub use map::CrushMap;
pub use map::bucket::{Bucket, BucketKind};
pub use map::build::Level;
pub use map::error::MapError;
pub use map::rule::{Choose, NONE, Rule, Step};
pub use map::tree::TreeRule;
pub use map::tunables::Tunables;
pub use map::weight_set::WeightSets;
pub use points::PointTable;
