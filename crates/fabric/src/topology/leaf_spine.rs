//! Leaf and spine: every leaf switch is joined to every spine switch, and hosts hang at the leaves.

use serde::Deserialize;

use super::entries::with_entries;
use super::error::{check_size, refuse};
use super::structure::Build;
use super::tree::tree_of_places;
use super::{Topology, TopologyError, Tree};

/// Leaves and spines by their keys, with routers at places of hosts, or some at each spine.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeafSpineKeys {
    leaves: u32,
    spines: u32,
    hosts_per_leaf: u32,
    #[serde(default = "one")]
    links: u32,
    #[serde(default)]
    routers: u32,
    #[serde(default)]
    entries_per_spine: u32,
}

fn one() -> u32 {
    1
}

impl Build for LeafSpineKeys {
    fn build(&self, _seed: u64) -> Result<Topology, TopologyError> {
        let &Self { leaves, spines, hosts_per_leaf, links, routers, entries_per_spine } = self;
        match (routers, entries_per_spine) {
            (routers, 0) => leaf_spine(leaves, spines, hosts_per_leaf, links, routers),
            (0, entries) => leaf_spine_with_entries(leaves, spines, hosts_per_leaf, links, entries),
            (routers, _) => {
                let rule = "clients enter at spines, or at places of hosts";
                refuse("routers", routers, rule, "leave out routers or entries_per_spine")
            }
        }
    }
}

/// A fabric of `leaves` with `hosts_per_leaf` places each, joined to each of `spines` by `links`; `routers` of the places are
/// where clients enter.
///
/// Routers are spread evenly: router i of R is at leaf i * leaves / R, rounded down, and those of one leaf take its last
/// places.
///
/// # Errors
/// When a size is zero, there are more nodes than numbers are kept for, or the routers leave no place for a device.
pub fn leaf_spine(
    leaves: u32,
    spines: u32,
    hosts_per_leaf: u32,
    links: u32,
    routers: u32,
) -> Result<Topology, TopologyError> {
    let (places, uplinks) = sizes_of(leaves, spines, hosts_per_leaf, links, 0)?;
    if routers >= places {
        return Err(TopologyError::TooManyRouters { routers, places });
    }
    let mut taken = vec![0; leaves as usize];
    let mut at: Vec<u32> = Vec::with_capacity(routers as usize);
    for router in 0..routers {
        let leaf = (u64::from(router) * u64::from(leaves) / u64::from(routers)) as u32;
        taken[leaf as usize] += 1;
        at.push((leaf + 1) * hosts_per_leaf - taken[leaf as usize]);
    }
    at.sort_unstable();
    tree_of_places(&[places, leaves, spines], &[1, uplinks], &at)
}

/// A fabric of leaves and spines as [`leaf_spine`], all of whose places have a device and at each of whose spines
/// `entries_per_spine` routers hang, where clients enter; router r hangs at spine r mod `spines`.
///
/// ```
/// use resilver_fabric::topology::leaf_spine_with_entries;
///
/// // 576 hosts at 24 switches of 48 ports, 24 such switches above them, and 576 links to clients.
/// let tree = leaf_spine_with_entries(24, 24, 24, 1, 24)?;
/// assert_eq!((tree.hosts().len(), tree.routers().len(), tree.switches().len()), (576, 576, 48));
/// assert_eq!((tree.links(), tree.max_radix()), (3 * 576, 48));
/// # Ok::<(), resilver_fabric::topology::TopologyError>(())
/// ```
///
/// # Errors
/// When a size is zero, or there are more nodes than numbers are kept for.
pub fn leaf_spine_with_entries(
    leaves: u32,
    spines: u32,
    hosts_per_leaf: u32,
    links: u32,
    entries_per_spine: u32,
) -> Result<Topology, TopologyError> {
    if entries_per_spine == 0 {
        return refuse("entries_per_spine", 0, "entries hang at every spine", "give at least 1");
    }
    let (places, uplinks) = sizes_of(leaves, spines, hosts_per_leaf, links, entries_per_spine)?;
    let (tree, ports) = Tree::new(&[places, leaves, spines], &[1, uplinks])?;
    Ok(with_entries(tree, ports, links, entries_per_spine))
}

/// The places of all leaves and the uplinks of one, after all rules that sizes must keep.
fn sizes_of(leaves: u32, spines: u32, hosts: u32, links: u32, entries: u32) -> Result<(u32, u32), TopologyError> {
    let sizes = [("leaves", leaves), ("spines", spines), ("hosts_per_leaf", hosts), ("links", links)];
    if let Some((field, _)) = sizes.iter().find(|(_, size)| *size == 0) {
        return refuse(field, 0, "a fabric of leaves and spines has one or more of each", "give at least 1");
    }
    let mut value = format!("{leaves} of {hosts} hosts, with {links} links to each of {spines} spines");
    if entries > 0 {
        value += &format!(" of {entries} entries");
    }
    let [leaves, spines, hosts, links, entries] = [leaves, spines, hosts, links, entries].map(u64::from);
    let (places, uplinks, routers) = (leaves * hosts, spines * links, spines * entries);
    let nodes = places.checked_add(leaves + spines).and_then(|nodes| nodes.checked_add(routers));
    let ends = places.checked_add(routers);
    let all_links = leaves.checked_mul(uplinks).zip(ends).and_then(|(links, ends)| links.checked_add(ends));
    check_size("leaves", value, nodes, all_links)?;
    Ok((places as u32, uplinks as u32))
}
