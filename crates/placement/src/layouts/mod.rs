//! Layouts of the field beside CRUSH and the hash ring: each places objects one by one, by their number.
//!
//! Every layout obeys two laws, which tests hold it to: no two copies of an object share a failure domain, and a failure
//! moves no copy but those of the devices that failed. What moves when a device is added, removed or reweighted differs,
//! and each layout says it.

pub mod copysets;
pub mod declustered;
pub mod design;
mod domains;
pub mod groups;
pub mod jump;
mod kind;
pub mod modulo;
pub mod multi_ring;
pub mod rendezvous;
pub mod sets;
mod shuffle;
pub mod xor;

use resilver_units::{DeviceId, ObjectId};
use serde::Deserialize;

use crate::layout::mix;
use kind::{Build, Over};
use resilver_crush::MapError;

pub use copysets::{Copysets, CopysetsKeys};
pub use declustered::{Declustered, DeclusteredKeys};
pub use domains::Domains;
pub use groups::{Groups, GroupsKeys};
pub use jump::{Jump, JumpKeys};
pub use modulo::{Modulo, ModuloKeys};
pub use multi_ring::{MultiRing, MultiRingKeys};
pub use rendezvous::{Rendezvous, RendezvousKeys};
pub use sets::{Sets, SetsKeys};
pub use xor::{Xor, XorKeys};

/// How many draws beyond one a copy are tried before a search goes on through all devices in turn.
const EXTRA_DRAWS: usize = 50;

/// The step between the draws of an object: odd, so that multiples of it are distinct.
const STEP: u64 = 0xd6e8_feb8_6659_fd93;

/// A way to place objects one by one, by their number.
pub trait ObjectLayout: Sync + Send {
    /// The number of devices.
    fn devices(&self) -> usize;

    /// Finds up to `copies` devices of an object, in order, passing over those for which `failed` is true.
    ///
    /// Fewer are found only where there are too few failure domains. Survivors of a failure keep their order, and so the
    /// first of them serves as the source. What `found` held is cleared.
    fn place(&self, object: ObjectId, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>);
}

kind::layout_of! {
    MultiRing: MultiRingKeys,
    Rendezvous: RendezvousKeys,
    Xor: XorKeys,
    Modulo: ModuloKeys,
    Jump: JumpKeys,
    Declustered: DeclusteredKeys,
    Copysets: CopysetsKeys,
    Groups: GroupsKeys,
    Sets: SetsKeys,
}

/// Random bits of an object: draw number 0 is the hash that places it everywhere else too.
#[inline]
fn draw(object: ObjectId, number: u64) -> u64 {
    mix(object.get() ^ number.wrapping_mul(STEP))
}

/// A word scaled to 0 to `of` - 1.
#[inline]
fn part(word: u64, of: usize) -> usize {
    ((u128::from(word) * of as u128) >> 64) as usize
}

#[cfg(test)]
mod laws;
