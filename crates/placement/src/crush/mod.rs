//! CRUSH, bit for bit: maps, rules and the choice of devices, as Ceph's clusters do it.
//!
//! A [`CrushMap`] comes from `ceph osd crush dump` or `ceph report` ([`CrushMap::from_json`]), from the text of
//! `crushtool --decompile` ([`CrushMap::from_text`]), from a cluster's own form ([`CrushMap::from_bytes`]), or from a few
//! numbers ([`CrushMap::build`], [`CrushMap::flat`], [`CrushMap::hierarchical`]); it is written in the same forms, and edited
//! ([`CrushMap::with_item`]). [`CrushMap::place`] maps an input to devices.

mod attempts;
mod batch;
mod binary;
mod bucket;
mod build;
mod check;
mod choose;
mod class;
mod contenders;
mod draft;
mod draw;
mod edit;
mod error;
mod firstn;
mod generate;
pub mod hash;
mod hashing;
mod indep;
mod json;
mod json_trees;
mod lanes;
mod lexer;
mod ln;
mod map;
mod msr;
#[cfg(test)]
mod msr_twin;
mod place;
mod rule;
mod screen;
mod straw;
mod text;
mod text_rule;
mod topology;
mod tree;
mod tunables;
mod vring;
mod weight_set;
#[cfg(target_arch = "x86_64")]
mod wide;
mod write;
mod write_binary;
mod write_json;

pub use batch::{Batch, BatchScratch, SHORT};
pub use bucket::{Bucket, BucketKind};
pub use build::Level;
pub use choose::Scratch;
pub use edit::Location;
pub use error::MapError;
pub use lanes::Lanes;
pub use map::CrushMap;
pub use rule::{Choose, NONE, Rule, Step};
pub use screen::{Candidate, FlatScreen, ScreenScratch};
pub use tree::TreeRule;
pub use tunables::Tunables;
pub use weight_set::WeightSets;
