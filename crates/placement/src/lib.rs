//! Where each piece of data goes: CRUSH, pools and placement groups, hash rings, and the inverse question.

pub mod crush;
pub mod inverse;
pub mod layout;
pub mod layouts;
pub mod pool;
pub mod ring;

pub use crush::hash;
