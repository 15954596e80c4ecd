//! CRUSH, bit for bit: maps, rules and the choice of devices, as Ceph's clusters do it.
//!
//! A [`CrushMap`] comes from `ceph osd crush dump` or `ceph report` ([`CrushMap::from_json`]), from the text of
//! `crushtool --decompile` ([`CrushMap::from_text`]), from a cluster's own form ([`CrushMap::from_bytes`]), or from a few
//! numbers ([`CrushMap::build`], [`CrushMap::flat`], [`CrushMap::hierarchical`]); it is written in the same forms, and edited
//! ([`CrushMap::with_item`]). [`CrushMap::place`] maps an input to devices.

mod choosing;
mod edit;
mod fast;
mod formats;
mod map;

pub use choosing::choose::Scratch;
pub use choosing::hash;
pub use edit::Location;
pub use fast::batch::{Batch, BatchScratch, SHORT};
pub use fast::lanes::Lanes;
pub use fast::screen::{Candidate, FlatScreen, ScreenScratch};
pub use map::CrushMap;
pub use map::bucket::{Bucket, BucketKind};
pub use map::build::Level;
pub use map::error::MapError;
pub use map::rule::{Choose, NONE, Rule, Step};
pub use map::tree::TreeRule;
pub use map::tunables::Tunables;
pub use map::weight_set::WeightSets;
