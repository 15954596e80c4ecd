//! Where each piece of data goes: CRUSH, pools and placement groups, hash rings, the inverse question, and evening out.

pub mod balance;
pub mod crush;
pub mod inverse;
pub mod layout;
pub mod layouts;
pub mod pool;
pub mod ring;

pub use crush::hash;
