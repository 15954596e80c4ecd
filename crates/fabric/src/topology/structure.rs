//! Networks that are not built yet, by their kinds.

use super::{NODES_MAX, Topology, TopologyError, draw_routers};

/// A network by its keys.
pub(super) trait Build {
    /// The network; `seed` decides where routers are that take places at random.
    ///
    /// # Errors
    /// When a number is out of its range, or the parts do not go together.
    fn build(&self, seed: u64) -> Result<Topology, TopologyError>;
}

/// Routers at random places of a grid of these sides; none where the grid is not one that can be built, which it then says
/// itself.
pub(super) fn inside(sides: &[u32], routers: u32, seed: u64) -> Result<Vec<u32>, TopologyError> {
    let nodes = sides.iter().try_fold(1u32, |nodes, &side| nodes.checked_mul(side));
    match nodes.filter(|&nodes| nodes > 1 && u64::from(nodes) <= NODES_MAX) {
        Some(places) => draw_routers(places, routers, seed),
        None => Ok(Vec::new()),
    }
}

/// Makes the type that is a network of any one of these kinds, each with the keys it is described by.
macro_rules! structure_of {
    ($($kind:ident: $keys:ident),+ $(,)?) => {
        /// A network that is not built yet: its kind with what that kind needs.
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        pub enum Structure {
            $(#[doc = concat!("By [`", stringify!($keys), "`].")] $kind($keys)),+
        }

        impl Structure {
            /// The network; `seed` decides where routers are that take places at random.
            ///
            /// # Errors
            /// When a number is out of its range, or the parts do not go together.
            pub fn build(&self, seed: u64) -> Result<Topology, TopologyError> {
                match self { $(Structure::$kind(keys) => keys.build(seed)),+ }
            }
        }
    };
}

pub(super) use structure_of;
