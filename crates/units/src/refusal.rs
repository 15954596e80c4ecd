//! What a study says and cannot be.

use thiserror::Error;

/// A value that cannot be: where it stands, what must hold, and what to do about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Error)]
#[error("{key}: {rule}; {remedy}")]
pub struct Refusal {
    /// Where the study says it.
    pub key: String,
    /// The number or the name that is wrong; neither where the key alone tells it.
    pub count: Option<u32>,
    /// See there.
    pub name: Option<String>,
    /// What must hold.
    pub rule: String,
    /// What to do about it; of a name that nothing has, what those are that it could be, or nothing.
    pub remedy: String,
    /// The names that it could be.
    pub known: Vec<String>,
}
