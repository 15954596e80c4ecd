//! Operations: small step machines over the pieces of one object or stripe.
//!
//! An operation has a coordinator, the server that gathers. A read is asked for by a small message from the client's entry;
//! the coordinator reads its own piece and asks the holders of the others; when all are there, it sends the data to the entry,
//! a message a piece. A write brings the data to the coordinator, which encodes them, keeps one piece and sends the others to
//! their holders, each of which acknowledges it once it is written; then the entry is told. A server that rebuilds in place
//! gathers what one lost piece takes, decodes it and writes it to its own device.
//!
//! Who begins operations, and what becomes of those that lose a message or a device, is for [`crate::clients`] to say.

pub(crate) mod plan;
mod steps;
pub(crate) mod table;
pub(crate) mod tokens;
