//! The parts of a cluster: what is in what, what carries what, and how well each part works.
//!
//! A cluster is a tree. Its *levels* have the names that its users give them (`rack`, `enclosure`, `host`, `osd`), and a level
//! is *in* another: what contains a part fails with it. One level is that of the devices. The bytes of a part also *pass* a
//! part, which carries it: its container, unless another level says that it carries this one, as where two controllers carry
//! disks that sit in five enclosures. A level may be made *of* another instead of being in one: RAID sets of ten disks, each
//! from another enclosure. Nothing here knows of time or events.

mod check;
mod declaration;
mod grow;
mod shape;
mod table;
#[cfg(test)]
mod tests;

pub use declaration::{Declaration, PartService};
pub use shape::{Shape, Side};
pub use table::{PartId, Parts};
