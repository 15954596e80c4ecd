//! What a piece of data needs to survive, and what its repair takes.
//!
//! Redundancy knows nothing of time, devices or placement: it is told which pieces of an object were lost, and says whether the
//! data survive and which of the others make them anew. A [`Code`] says so for pieces that differ, by linear algebra over
//! bytes, and a [`CodeTree`] where each piece of a code is stored under another one; [`Replicas`] counts whole copies for
//! the protocol that pulls them.

mod code;
mod error;
mod field;
mod generator;
mod matrix;
mod pieces;
mod reed_solomon;
mod repair_sets;
mod replicas;
mod tree;

pub use code::Code;
pub use error::CodeError;
pub use matrix::Matrix;
pub use pieces::Pieces;
pub use replicas::{Repair, Replicas};
pub use tree::{CodeTree, RepairStep};

use generator::LinearCode;
