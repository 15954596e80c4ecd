//! Steady flows: max-min fair rates over shared resources. It knows no time.
//!
//! A flow uses resources, and each byte of it costs each of them something: of a link or a disk, seconds. A resource gives its
//! capacity at the most: of a link or a disk, one second a second. Rates are *max-min fair*: no flow can be made faster
//! without slowing one that is no faster by weight. They are found by progressive filling (Bertsekas and Gallager, *Data
//! Networks*, 2nd edition, section 6.5.2): all flows rise together, each by its weight, until a resource is full; its flows stay
//! where they are, and the others rise on. The resource that was full is what *binds* a flow.

mod filling;
mod flows;
mod running;

pub use filling::{Rates, fair_rates};
pub use flows::{Flow, FlowError, Flows};
pub use running::RunningFlows;

/// What binds a flow that has all that it asks for, in place of a resource.
pub const OWN_CAP: u32 = u32::MAX;
