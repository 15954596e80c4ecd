//! What errors of the core are about, for borders that hand them on.

/// What an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// A part of the system cannot be built as asked.
    Config,
    /// A map, a rule or a pool cannot be used.
    Placement,
    /// A run cannot go on, or broke a law.
    Simulation,
}

impl ErrorClass {
    /// Its name where it is handed on as text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ErrorClass::Config => "config",
            ErrorClass::Placement => "placement",
            ErrorClass::Simulation => "simulation",
        }
    }
}
