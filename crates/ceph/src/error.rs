//! Why a cluster or a change cannot be used.

use resilver_crush::MapError;

/// What is wrong with a cluster or a change, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CephError {
    /// A value breaks a rule.
    #[error(transparent)]
    Invalid(MapError),
    /// The CRUSH map cannot be used, or cannot be changed so.
    #[error("{field}: {error}")]
    Crush {
        /// What asks for it (`crushmap`, `add osd.12`).
        field: String,
        /// What is wrong.
        error: MapError,
    },
}

impl CephError {
    /// A value that breaks a rule.
    ///
    /// # Arguments
    /// * `field` - where the value stands.
    /// * `value` - the value found.
    /// * `rule` - the rule it breaks.
    /// * `remedy` - what to do.
    pub(crate) fn invalid(
        field: impl Into<String>,
        value: impl ToString,
        rule: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Invalid(MapError::invalid(field, value, rule, remedy))
    }

    /// What a CRUSH map's error becomes here.
    pub(crate) fn crush(field: impl Into<String>) -> impl FnOnce(MapError) -> Self {
        let field = field.into();
        move |error| Self::Crush { field, error }
    }
}
