//! Why a CRUSH map, a pool or a placement request cannot be used.

/// What is wrong with a map, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// The text form does not follow the grammar of `crushtool --decompile`.
    #[error("line {line}, column {column}: found {found}, expected {expected}")]
    Syntax {
        /// Line in the text, from 1.
        line: usize,
        /// Column in the line, in characters from 1.
        column: usize,
        /// What stands there.
        found: String,
        /// What the grammar allows there.
        expected: String,
    },
    /// The JSON form is malformed or truncated, or a field has the wrong type.
    #[error("the CRUSH map is not the JSON of `ceph osd crush dump`: {message}")]
    Json {
        /// The JSON reader's own message, with line and column.
        message: String,
    },
    /// The binary form ends early or holds what no release of Ceph writes.
    #[error("byte {offset}: {message}")]
    Binary {
        /// Bytes from the start of the map.
        offset: usize,
        /// What is wrong there.
        message: String,
    },
    /// An error at a place of the source: a line and column, a path in the JSON, or a byte.
    #[error("{place}: {error}")]
    Located {
        /// The place.
        place: String,
        /// What is wrong there.
        error: Box<MapError>,
    },
    /// A value breaks a rule.
    #[error("{field} = {value}: {rule}; {remedy}")]
    Invalid {
        /// The field, as a path a person can find (`bucket host3: item osd.7: weight`).
        field: String,
        /// The value found.
        value: String,
        /// The rule it breaks.
        rule: String,
        /// What to do.
        remedy: String,
    },
}

impl MapError {
    /// A value that breaks a rule.
    ///
    /// # Arguments
    /// * `field` - where the value stands.
    /// * `value` - the value found.
    /// * `rule` - the rule it breaks.
    /// * `remedy` - what to do.
    ///
    /// # Returns
    /// The error.
    pub fn invalid(
        field: impl Into<String>,
        value: impl ToString,
        rule: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        MapError::Invalid { field: field.into(), value: value.to_string(), rule: rule.into(), remedy: remedy.into() }
    }

    /// The same error, with the place where it stands in front.
    pub(crate) fn located(self, place: impl Into<String>) -> Self {
        MapError::Located { place: place.into(), error: Box::new(self) }
    }
}
