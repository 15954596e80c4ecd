//! Leaf and spine: every leaf switch is joined to every spine switch, and hosts hang at the leaves.

use super::error::{check_size, refuse};
use super::tree::tree_of_places;
use super::{Topology, TopologyError};

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
    let sizes = [("leaves", leaves), ("spines", spines), ("hosts_per_leaf", hosts_per_leaf), ("links", links)];
    if let Some((field, _)) = sizes.iter().find(|(_, size)| *size == 0) {
        return refuse(field, 0, "a fabric of leaves and spines has one or more of each", "give at least 1");
    }
    let value = format!("{leaves} of {hosts_per_leaf} hosts, with {links} links to each of {spines} spines");
    let (places, uplinks) = (u64::from(leaves) * u64::from(hosts_per_leaf), u64::from(spines) * u64::from(links));
    let nodes = places.checked_add(u64::from(leaves) + u64::from(spines));
    let all_links = u64::from(leaves).checked_mul(uplinks).and_then(|links| links.checked_add(places));
    check_size("leaves", value, nodes, all_links)?;
    let (places, uplinks) = (places as u32, uplinks as u32);
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
