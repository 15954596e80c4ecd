//! How a Ceph cluster heals and changes, group by group: maps, peering, reservations, fill, and what moves the data.
//!
//! The cluster is its OSD map and its placement groups. A change of the map (a failure, a drain, an upmap entry) gives groups other
//! sets; those that are not whole ask for reservations, and those that have them move, object by object. What moves them is a
//! [`DataPlane`]: by events, or by steady flows between two changes of what moves.

pub mod agents;
mod error;
pub mod fill;
pub mod groups;
mod healing;
mod input;
mod load;
pub mod map;
mod outcome;
mod plane;
pub mod reserve;
mod settings;

pub use error::CephError;
pub use healing::{HealError, Healing};
pub use input::{
    Add, Change, ClusterInput, DeviceLaw, Flag, GroupColumns, NetworkInput, OsdInput, PoolInput, PoolLoad, Ratios,
    Step, Stretch, StretchMode,
};
pub use outcome::{Column, Table, tables};
pub use plane::{
    ClientLoad, ClientState, DataPlane, EventPlane, FlowPlane, Limit, OpClass, Progress, Work, WorkId, WorkKind,
};
pub use settings::{ClusterSettings, CostModel, Mclock, OpQueue, OsdSettings, Share, Shares};
