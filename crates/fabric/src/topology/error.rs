//! Why a topology cannot be built as asked.

/// What is wrong with a topology's sizes, its routers or its graph, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// A value breaks a rule.
    #[error("topology.{field}={value}: {rule}; {remedy}")]
    Value {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
        /// The rule that it breaks.
        rule: String,
        /// What to do.
        remedy: String,
    },
    /// More places are asked for than numbers of nodes and links can hold.
    #[error("topology.{field}={value}: it would have more than {limit} {what}; {remedy}")]
    TooLarge {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
        /// The most there may be.
        limit: u64,
        /// What there would be too many of.
        what: &'static str,
        /// What to do.
        remedy: String,
    },
    /// No node would be left for a device.
    #[error(
        "topology.routers={routers}: they take places of devices, and there are {places}; ask for fewer than {places}"
    )]
    TooManyRouters {
        /// Routers asked for.
        routers: u32,
        /// Places there are.
        places: u32,
    },
    /// A part of the graph cannot be reached.
    #[error(
        "topology.links={links}: node {node} cannot be reached from node 0; a network hangs together: add links, or leave \
         the node out"
    )]
    Disconnected {
        /// How many links there are.
        links: usize,
        /// The first node that cannot be reached.
        node: u32,
    },
}

/// A value that breaks a rule.
pub(super) fn refuse<T>(
    field: &'static str,
    value: impl ToString,
    rule: impl Into<String>,
    remedy: impl Into<String>,
) -> Result<T, TopologyError> {
    Err(TopologyError::Value { field, value: value.to_string(), rule: rule.into(), remedy: remedy.into() })
}

/// Nodes at most.
pub const NODES_MAX: u64 = 1 << 24;
/// Links at most.
pub const LINKS_MAX: u64 = 1 << 28;

/// That there are no more nodes and links than numbers are kept for; sums that overflow are given as `None`.
pub(super) fn check_size(
    field: &'static str,
    value: impl ToString,
    nodes: Option<u64>,
    links: Option<u64>,
) -> Result<u32, TopologyError> {
    for (count, limit, what) in [(nodes, NODES_MAX, "nodes"), (links, LINKS_MAX, "links")] {
        if count.is_none_or(|count| count > limit) {
            let remedy = "choose smaller sizes".to_string();
            return Err(TopologyError::TooLarge { field, value: value.to_string(), limit, what, remedy });
        }
    }
    Ok(nodes.unwrap_or_default() as u32)
}

/// Sizes as they are written in a study: `4x8x4`.
pub(super) fn joined(sizes: &[u32]) -> String {
    sizes.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}
