//! Why levels make no cluster.

use thiserror::Error;

/// Why levels make no cluster.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PartsError {
    /// A level that no declaration has.
    #[error("parts.{level}.{key} = {name:?}: there is no such level; the levels are {levels}")]
    NoSuchLevel {
        /// The level whose declaration names it.
        level: String,
        /// The key.
        key: &'static str,
        /// The name.
        name: String,
        /// The names that there are.
        levels: String,
    },
    /// A level that is in itself, or below itself.
    #[error("parts.{level}.in: the level is in itself; let it be in another, or in none")]
    Circle {
        /// The level.
        level: String,
    },
    /// A level that carries itself, or what carries it.
    #[error("parts.{level}.carries: the level carries itself; let it carry the devices, or what is made of them")]
    CarriesItself {
        /// The level.
        level: String,
    },
    /// A level whose declarations do not agree.
    #[error(
        "parts.{level}: only the level of the devices is declared more than once, in one level; merge the declarations"
    )]
    DeclaredTwice {
        /// The level.
        level: String,
    },
    /// A number that cannot be.
    #[error("parts.{level}.{key} = {value}: {rule}")]
    Number {
        /// The level.
        level: String,
        /// The key.
        key: &'static str,
        /// Its value.
        value: u64,
        /// What it must be.
        rule: &'static str,
    },
    /// No level of devices, or several.
    #[error("parts: one level holds nothing, carries nothing and is the devices'; here {levels} do")]
    Devices {
        /// The levels that hold nothing.
        levels: String,
    },
}
