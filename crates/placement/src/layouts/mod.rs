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

use crate::layout::mix;

pub use copysets::Copysets;
pub use declustered::Declustered;
pub use domains::Domains;
pub use groups::Groups;
pub use jump::Jump;
pub use kind::LayoutKind;
pub use modulo::Modulo;
pub use multi_ring::MultiRing;
pub use rendezvous::Rendezvous;
pub use sets::Sets;
pub use xor::Xor;

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

/// One of the layouts, chosen once for a system.
#[derive(Clone, Debug)]
pub enum Layout {
    /// Several rings, each copy from its own.
    MultiRing(MultiRing),
    /// Highest random weight.
    Rendezvous(Rendezvous),
    /// The least distance by exclusive or.
    Xor(Xor),
    /// The object's hash modulo the number of devices.
    Modulo(Modulo),
    /// Jump consistent hash.
    Jump(Jump),
    /// Declustered parity groups.
    Declustered(Declustered),
    /// Copysets.
    Copysets(Copysets),
    /// Fixed groups.
    Groups(Groups),
    /// RAID sets.
    Sets(Sets),
}

impl ObjectLayout for Layout {
    fn devices(&self) -> usize {
        match self {
            Layout::MultiRing(layout) => layout.devices(),
            Layout::Rendezvous(layout) => layout.devices(),
            Layout::Xor(layout) => layout.devices(),
            Layout::Modulo(layout) => layout.devices(),
            Layout::Jump(layout) => layout.devices(),
            Layout::Declustered(layout) => layout.devices(),
            Layout::Copysets(layout) => layout.devices(),
            Layout::Groups(layout) => layout.devices(),
            Layout::Sets(layout) => layout.devices(),
        }
    }

    #[inline]
    fn place(&self, object: ObjectId, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        match self {
            Layout::MultiRing(layout) => layout.place(object, copies, failed, found),
            Layout::Rendezvous(layout) => layout.place(object, copies, failed, found),
            Layout::Xor(layout) => layout.place(object, copies, failed, found),
            Layout::Modulo(layout) => layout.place(object, copies, failed, found),
            Layout::Jump(layout) => layout.place(object, copies, failed, found),
            Layout::Declustered(layout) => layout.place(object, copies, failed, found),
            Layout::Copysets(layout) => layout.place(object, copies, failed, found),
            Layout::Groups(layout) => layout.place(object, copies, failed, found),
            Layout::Sets(layout) => layout.place(object, copies, failed, found),
        }
    }
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
