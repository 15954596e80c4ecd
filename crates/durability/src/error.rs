//! Errors: what was asked cannot be.

/// Why a system's durability cannot be computed as asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DurabilityError {
    /// A value breaks a rule.
    #[error("{field} = {value}: {rule}; {remedy}")]
    Invalid {
        /// The field, as a path a person can find (`failures[1].law`).
        field: String,
        /// The value found.
        value: String,
        /// The rule it breaks.
        rule: String,
        /// What to do.
        remedy: String,
    },
    /// The redundancy cannot be.
    #[error(transparent)]
    Code(#[from] resilver_redundancy::CodeError),
}

impl DurabilityError {
    /// A value breaks a rule.
    pub fn invalid(
        field: impl Into<String>,
        value: impl ToString,
        rule: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Invalid { field: field.into(), value: value.to_string(), rule: rule.into(), remedy: remedy.into() }
    }
}
