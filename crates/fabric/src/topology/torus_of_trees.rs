//! A torus each of whose nodes is the root of a tree: hosts hang together by trees, and the trees by a torus.
//!
//! A way between two trees leads up the one to its root, along the torus, and down the other; there is no other way into a
//! tree. So the hops are those of the torus and of the two climbs, and minimal routing over the graph is that of its parts.

use serde::Deserialize;

use super::drawing::middle;
use super::error::{check_size, joined, refuse};
use super::graph::{GraphLinks, graph};
use super::places::{draw_routers, hosts_beside};
use super::structure::Build;
use super::{Topology, TopologyError, torus};

/// A torus of trees by its keys.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TorusOfTreesKeys {
    /// The sides of the torus.
    sides: Vec<u32>,
    /// Links down from a node of each level, the root's first; those of the last lead to places of hosts.
    down: Vec<u32>,
    /// How many of these places have clients instead.
    #[serde(default)]
    routers: u32,
}

impl Build for TorusOfTreesKeys {
    fn build(&self, seed: u64) -> Result<Topology, TopologyError> {
        let places = sizes(&self.sides, &self.down)?.last().copied().unwrap_or_default();
        torus_of_trees(&self.sides, &self.down, &draw_routers(places, self.routers, seed)?)
    }
}

/// How many nodes each level has, the roots first.
fn sizes(sides: &[u32], down: &[u32]) -> Result<Vec<u32>, TopologyError> {
    if down.is_empty() || down.contains(&0) {
        let rule = "each level of a tree has links down, the last to hosts";
        return refuse("down", joined(down), rule, "give a number from 1 for each level");
    }
    let roots = sides.iter().try_fold(1u64, |nodes, &side| nodes.checked_mul(side.into()));
    let mut sizes = vec![roots];
    for &links in down {
        sizes.push(sizes[sizes.len() - 1].and_then(|above| above.checked_mul(links.into())));
    }
    let nodes = sizes.iter().try_fold(0u64, |nodes, &size| nodes.checked_add(size?));
    // Each node below a root has one link up.
    let links = nodes.zip(roots).and_then(|(nodes, roots)| nodes.checked_add(roots.checked_mul(sides.len() as u64)?));
    let all = format!("{} with {} down", joined(sides), joined(down));
    check_size("sides", all, nodes, links)?;
    Ok(sizes.into_iter().map(|size| size.unwrap_or_default() as u32).collect())
}

/// A torus of these sides, each node of which is the root of a tree with `down` links from a node of each level, the root's
/// first; `routers` of the places that the last of these lead to are where clients enter, and the others have devices.
///
/// Nodes are numbered level by level, the roots as those of the torus; the children of a node follow each other.
///
/// ```
/// use resilver_fabric::topology::torus_of_trees;
///
/// // A ring of four roots, with two switches each and three hosts a switch: up 2, along 2, down 2.
/// let network = torus_of_trees(&[4], &[2, 3], &[])?;
/// assert_eq!((network.hosts().len(), network.links(), network.diameter()), (24, 4 + 8 + 24, 6));
/// # Ok::<(), resilver_fabric::topology::TopologyError>(())
/// ```
///
/// # Errors
/// When a size is out of its range, there are more nodes than numbers or the table of hops are kept for, or the routers leave
/// no place for a device.
pub fn torus_of_trees(sides: &[u32], down: &[u32], routers: &[u32]) -> Result<Topology, TopologyError> {
    let sizes = sizes(sides, down)?;
    let grid = torus(sides, &[])?;
    let mut links: Vec<[u32; 2]> = (0..grid.links()).map(|link| grid.ends(link)).collect();
    // A tree is drawn below its root, in most of the room to the next ones.
    let room = [0, 1].map(|axis| {
        let mut places: Vec<f64> = (0..grid.nodes()).map(|root| grid.position(root)[axis]).collect();
        places.sort_by(f64::total_cmp);
        let gaps = places.windows(2).map(|pair| pair[1] - pair[0]).filter(|&gap| gap > 1e-9);
        let part = 0.8 * gaps.fold(0.5, f64::min);
        part / (1.0 + part)
    });
    let [width, height] = [room[0], room[1] / down.len() as f64];
    let within = |root| {
        let [x, y] = grid.position(root);
        [width / 2.0 + x * (1.0 - width), room[1] + y * (1.0 - room[1])]
    };
    let mut positions: Vec<[f64; 2]> = (0..grid.nodes()).map(within).collect();
    let mut above = 0;
    for (&each, &size) in down.iter().zip(&sizes[1..]) {
        let first = positions.len() as u32;
        for node in 0..size {
            links.push([above + node / each, first + node]);
            let tree = size / sizes[0];
            let ([x, _], [_, y]) = (positions[(node / tree) as usize], positions[(above + node / each) as usize]);
            positions.push([x + (middle(node % tree, tree) - 0.5) * width, y - height]);
        }
        above = first;
    }
    let nodes = positions.len() as u32;
    let places = nodes - above;
    let at = |places: Vec<u32>| places.into_iter().map(|place| above + place).collect();
    let hosts = at(hosts_beside(places, routers)?);
    graph(GraphLinks { nodes, links, hosts, routers: at(routers.to_vec()), positions: Some(positions) })
}
