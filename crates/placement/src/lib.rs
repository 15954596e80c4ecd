//! Where each piece of data goes without CRUSH: layouts by arithmetic, hash rings, and the inverse question.

pub mod inverse;
pub mod layout;
pub mod layouts;
pub mod ring;
