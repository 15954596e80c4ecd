//! How much more fits into each pool until the first OSD reaches a ratio.
//!
//! New objects spread over the groups of a pool by their hashes, and take space on each OSD of an up set. What fits into a pool is with
//! the others as they are; data that is still to move counts where it is. Ceph's own figure, MAX AVAIL, goes by weights instead.

use super::{Fill, Space};
use crate::groups::{Group, Protection, members};
use crate::input::PoolInput;
use crate::map::OsdMap;

/// The ratios by their names, and what `ceph df` says.
pub(crate) const STATES: [&str; 4] = ["nearfull", "backfillfull", "full", "max_avail"];

/// User data that fits before the first OSD reaches a ratio, or by MAX AVAIL.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fits {
    /// Bytes; 0 where an OSD of the pool is above the ratio already.
    pub(crate) bytes: f64,
    /// The first OSD to reach it.
    pub(crate) osd: u32,
}

/// What fits into a pool, by [`STATES`]; nothing where none of its groups is on an OSD of known capacity.
pub(crate) type PoolRoom = [Option<Fits>; STATES.len()];

/// The share of a pool's objects in one of its groups, by Ceph's stable modulo: groups that are not split yet hold twice as much.
fn share(number: u32, groups: u32) -> f64 {
    let whole = groups.next_power_of_two();
    let half = whole / 2;
    let is_unsplit = number < half && number + half >= groups;
    f64::from(1 + u32::from(is_unsplit)) / f64::from(whole)
}

/// What fits into each pool.
///
/// # Arguments
/// * `map` - the pools, their rules and which OSDs are in.
/// * `groups` - all groups, with their up sets.
/// * `protections` - the pools' own.
/// * `fill` - how full OSDs are.
pub(crate) fn room_of_pools(map: &OsdMap, groups: &[Group], protections: &[Protection], fill: &Fill) -> Vec<PoolRoom> {
    let spaces: Vec<(u32, &Space)> = fill.iter().filter(|(_, space)| space.capacity > 0).collect();
    let length = spaces.last().map_or(0, |&(osd, _)| osd as usize + 1);
    let mut sizes = vec![0; protections.len()];
    for group in groups.iter().filter(|group| group.exists) {
        sizes[group.pool] += 1;
    }
    // Bytes that each OSD gets of a byte of user data in each pool.
    let mut gained = vec![vec![0.0; length]; protections.len()];
    for group in groups.iter().filter(|group| group.exists) {
        let bytes = share(group.number, sizes[group.pool]) / f64::from(protections[group.pool].data_pieces);
        for (osd, _) in members(&group.up, false) {
            if let Some(cell) = gained[group.pool].get_mut(osd as usize) {
                *cell += bytes;
            }
        }
    }
    let first = |gained: &[f64], ratio: f64| {
        let fits = spaces.iter().filter(|&&(osd, _)| gained[osd as usize] > 0.0).map(|&(osd, space)| {
            let left = (space.capacity as f64 * ratio - space.used() as f64).max(0.0);
            Fits { bytes: left / gained[osd as usize], osd }
        });
        fits.min_by(|one, other| one.bytes.total_cmp(&other.bytes))
    };
    let of_pools = map.pools().iter().zip(protections).zip(&gained);
    let room = of_pools.map(|((pool, protection), gained)| {
        let [nearfull, backfillfull, full] =
            [fill.ratios.nearfull, fill.ratios.backfillfull, fill.ratios.full].map(|ratio| first(gained, ratio));
        [nearfull, backfillfull, full, max_avail(map, pool, protection.data_pieces, &spaces, fill.ratios.full)]
    });
    room.collect()
}

/// MAX AVAIL of `ceph df`: what fits if each OSD got the share of its CRUSH weight, in Ceph's precision (`PGMap::get_rule_avail`).
fn max_avail(
    map: &OsdMap,
    PoolInput { pool, .. }: &PoolInput,
    data_pieces: u32,
    spaces: &[(u32, &Space)],
    full: f64,
) -> Option<Fits> {
    let shares = map.crush().shares_of(map.crush().rule_by_id(pool.rule)?);
    // Ceph keeps no statistics of an OSD that is out.
    let projected = spaces.iter().filter(|&&(osd, _)| !map.is_out(osd)).filter_map(|&(osd, space)| {
        let share = shares.get(&(osd as i32)).copied().filter(|&share| share > 0.0)?;
        let unusable = (space.capacity / 1024) as f64 * (1.0 - f64::from(full as f32));
        let free = (space.capacity.saturating_sub(space.used()) / 1024) as f64;
        Some((((free - unusable).max(0.0) * 1024.0 / f64::from(share)).floor(), osd))
    });
    let (bytes, osd) = projected.min_by(|one, other| one.0.total_cmp(&other.0))?;
    let rate = (f64::from(pool.size) / f64::from(data_pieces)) as f32;
    Some(Fits { bytes: f64::from(bytes as f32 / rate), osd })
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn groups_that_are_not_split_hold_twice_as_much() {
        let shares = |groups: u32| (0..groups).map(|number| share(number, groups)).collect::<Vec<_>>();
        assert_eq!(shares(1), [1.0]);
        assert_eq!(shares(3), [0.25, 0.5, 0.25]);
        for groups in 1..70 {
            assert!((shares(groups).iter().sum::<f64>() - 1.0).abs() < 1e-12, "{groups}");
        }
    }
}
