//! Who serves a group, and who is to be filled: peering, without its messages.
//!
//! Source: `calc_replicated_acting`, `calc_ec_acting` and `OSDMap::_get_temp_osds` of Ceph 19.

use resilver_crush::NONE;
use resilver_crush::pool::NO_PRIMARY;

use super::{Group, Piece, Protection, Standing, is_osd, members, places_held};
use crate::map::Barrier;

/// Objects that a primary may lack by its log; one that lacks more leaves the part to a whole one
/// (`osd_force_auth_primary_missing_objects`, `osd_async_recovery_min_cost`).
const MOST_MISSING_OF_A_PRIMARY: u64 = 100;

/// What peering finds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peers {
    /// OSDs that serve the group; holes only under a code. Empty where what is up does not have the data.
    pub acting: Vec<i32>,
    /// Their primary.
    pub primary: i32,
    /// (OSD, position) of those that should have it and are to be filled, in the order of reservations.
    pub fill: Vec<(u32, u8)>,
    /// (OSD, position) of those that serve and lack objects by their log, in the same order.
    pub recover: Vec<(u32, u8)>,
}

/// Chooses who serves a group.
///
/// # Arguments
/// * `group` - with its new `up` set; its `acting` is the one before.
/// * `barrier` - what its pool asks of them, where it is a stretch pool.
/// * `is_up` - whether an OSD is up.
#[must_use]
pub fn choose(
    group: &Group,
    protection: &Protection,
    barrier: Option<Barrier<'_>>,
    is_up: &impl Fn(u32) -> bool,
) -> Peers {
    let left = places_held(&group.pieces, protection, |piece| piece.is_whole() && is_up(piece.osd));
    if !protection.survives(left, 0) {
        return Peers { primary: NO_PRIMARY, ..Peers::default() };
    }
    let (acting, primary) = if protection.is_coded() {
        coded(group, is_up)
    } else {
        copied(group, protection.size as usize, barrier, is_up)
    };
    let mut fill: Vec<(u32, u8)> = members(&group.up, protection.is_coded())
        .filter(|&(osd, position)| is_up(osd) && !serves(group.piece(osd, position)))
        .collect();
    let mut recover: Vec<(u32, u8)> = members(&acting, protection.is_coded())
        .filter(|&(osd, position)| group.piece(osd, position).is_some_and(|piece| piece.standing == Standing::ByLog))
        .collect();
    fill.sort_unstable();
    recover.sort_unstable();
    Peers { acting, primary, fill, recover }
}

/// Whether a piece's OSD can serve the group.
fn serves(piece: Option<&Piece>) -> bool {
    piece.is_some_and(|piece| matches!(piece.standing, Standing::Whole | Standing::ByLog))
}

/// Copies: the primary of the up set where it can be, then those of the up set, of the acting set before, and others that have it.
fn copied(group: &Group, size: usize, barrier: Option<Barrier<'_>>, is_up: &impl Fn(u32) -> bool) -> (Vec<i32>, i32) {
    let able = |osd: i32| is_osd(osd) && is_up(osd as u32) && serves(group.piece(osd as u32, 0));
    let whole = |osd: i32| able(osd) && group.piece(osd as u32, 0).is_some_and(Piece::is_whole);
    let mut others: Vec<i32> = group.pieces.iter().map(|piece| piece.osd as i32).collect();
    others.sort_unstable();
    let in_order = || group.up.iter().chain(&group.acting).chain(&others).copied();
    let near = |osd: i32| {
        able(osd) && group.piece(osd as u32, 0).is_some_and(|piece| piece.lacking <= MOST_MISSING_OF_A_PRIMARY)
    };
    let primary = if near(group.up_primary) { Some(group.up_primary) } else { in_order().find(|&osd| whole(osd)) };
    let Some(primary) = primary else { return (Vec::new(), NO_PRIMARY) };
    let mut acting = vec![primary];
    for &osd in group.up.iter().filter(|&&osd| able(osd)) {
        if acting.len() < size && !acting.contains(&osd) {
            acting.push(osd);
        }
    }
    // Those that are not of the up set serve only where they are whole.
    let mut left: Vec<i32> = group.acting.iter().chain(&others).copied().filter(|&osd| whole(osd)).collect();
    while acting.len() < size {
        left.retain(|osd| !acting.contains(osd));
        let next = barrier.map_or((!left.is_empty()).then_some(0), |barrier| barrier.next(&acting, &left, size));
        let Some(next) = next else { break };
        acting.push(left[next]);
    }
    // The order of the up set stays where it is the same OSDs: then there is no temporary set.
    if acting.len() == group.up.len() && group.up.iter().all(|osd| acting.contains(osd)) && near(group.up_primary) {
        return (group.up.clone(), group.up_primary);
    }
    (acting, primary)
}

/// Pieces of a code: at each position who should have it where they can, else who had it, else any who has it, else a hole.
fn coded(group: &Group, is_up: &impl Fn(u32) -> bool) -> (Vec<i32>, i32) {
    let mut acting = Vec::with_capacity(group.up.len());
    for (at, &up) in group.up.iter().enumerate() {
        let position = at as u8;
        let able = |osd: i32| is_osd(osd) && is_up(osd as u32) && serves(group.piece(osd as u32, position));
        let whole = |osd: i32| able(osd) && group.piece(osd as u32, position).is_some_and(Piece::is_whole);
        let before = group.acting.get(at).copied().unwrap_or(NONE);
        let chosen = if able(up) {
            up
        } else if whole(before) {
            before
        } else {
            let holders = group.pieces.iter().filter(|piece| piece.position == position).map(|piece| piece.osd as i32);
            holders.filter(|&osd| whole(osd)).min().unwrap_or(NONE)
        };
        acting.push(chosen);
    }
    let primary = if acting == group.up {
        group.up_primary
    } else {
        acting.iter().copied().find(|&osd| is_osd(osd)).unwrap_or(NO_PRIMARY)
    };
    (acting, primary)
}
