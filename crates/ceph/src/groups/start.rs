//! The groups of a cluster as it stands.

use super::{Contents, Group, Piece, Protection, Standing, Tally, is_osd, members};
use crate::input::{ClusterInput, GroupColumns};
use crate::map::{OsdMap, UpSets};
use resilver_crush::NONE;
use resilver_crush::pool::NO_PRIMARY;

/// Which group each number of each pool is.
#[derive(Debug, Clone, Default)]
pub struct GroupTable {
    /// By place of the pool, then by number.
    pub of_pool: Vec<Vec<u32>>,
}

impl GroupTable {
    /// The group of a number.
    #[must_use]
    pub fn get(&self, pool: usize, number: u32) -> Option<u32> {
        self.of_pool.get(pool)?.get(number as usize).copied()
    }
}

/// The groups of a cluster, with what each OSD has of them.
///
/// OSDs that serve a group have all of it, but for what the columns say is degraded or misplaced. What OSDs have that are down at the
/// start is not known: they have nothing.
#[must_use]
pub fn start_groups(input: &ClusterInput, map: &OsdMap) -> (Vec<Group>, GroupTable) {
    let mut groups = Vec::new();
    let mut table = GroupTable::default();
    let mut sets = UpSets::default();
    for (place, pool) in map.pools().iter().enumerate() {
        map.up_sets(place, &mut sets);
        let protection = Protection::of(pool);
        let nothing = GroupColumns::default();
        let columns = input.groups.get(place).unwrap_or(&nothing);
        let first = groups.len() as u32;
        for number in 0..pool.pool.pg_num {
            groups.push(start_group(place, number, &protection, columns, &sets));
        }
        table.of_pool.push((first..groups.len() as u32).collect());
    }
    (groups, table)
}

/// A set with a place for every position of a code.
#[must_use]
pub fn with_positions(set: &[i32], protection: &Protection) -> Vec<i32> {
    let mut set = set.to_vec();
    if protection.is_coded() {
        set.resize(protection.size as usize, NONE);
    }
    set
}

fn start_group(pool: usize, number: u32, protection: &Protection, columns: &GroupColumns, sets: &UpSets) -> Group {
    let at = number as usize;
    let of = |column: &[u64]| column.get(at).copied().unwrap_or(0);
    let contents =
        Contents { objects: of(&columns.objects), bytes: of(&columns.bytes), omap_bytes: of(&columns.omap_bytes) };
    let up = with_positions(sets.set(number), protection);
    let stated = columns.acting.get(at);
    let acting = stated.map_or_else(|| up.clone(), |acting| with_positions(acting, protection));
    let up_primary = sets.primary(number);
    let primary =
        if acting == up { up_primary } else { acting.iter().copied().find(|&osd| is_osd(osd)).unwrap_or(NO_PRIMARY) };
    let coded = protection.is_coded();
    let mut pieces: Vec<Piece> =
        members(&acting, coded).map(|(osd, position)| Piece::whole(osd, position, contents.objects)).collect();
    let filling: Vec<(u32, u8)> =
        members(&up, coded).filter(|member| !members(&acting, coded).any(|other| other == *member)).collect();
    pieces.extend(filling.iter().map(|&(osd, position)| Piece::empty(osd, position, contents.objects)));
    let mut group = Group {
        pool,
        number,
        contents,
        up,
        up_primary,
        acting,
        primary,
        pieces,
        forced: false,
        withheld: None,
        exists: true,
        tally: Tally::default(),
    };
    if !columns.degraded.is_empty() || !columns.misplaced.is_empty() {
        lay_out_lacking(&mut group, protection, &filling, (of(&columns.degraded), of(&columns.misplaced)));
    }
    group
}

/// Gives the OSDs that are filled what they have already, so that as much is degraded and misplaced as is stated.
fn lay_out_lacking(group: &mut Group, protection: &Protection, filling: &[(u32, u8)], stated: (u64, u64)) {
    let (degraded, misplaced) = stated;
    let objects = group.contents.objects;
    let holes = protection.size.saturating_sub(group.serving_count()) as usize;
    let (for_holes, for_moves): (Vec<_>, Vec<_>) = if protection.is_coded() {
        filling.iter().partition(|&&(_, position)| !group.acting.get(position as usize).is_some_and(|&osd| is_osd(osd)))
    } else {
        let split = holes.min(filling.len());
        (filling[..split].to_vec(), filling[split..].to_vec())
    };
    // Places that nobody fills lack everything, and are no part of what those that are filled lack.
    let nobody = holes.saturating_sub(for_holes.len()) as u64 * objects;
    for (targets, lacking) in [(for_holes, degraded.saturating_sub(nobody)), (for_moves, misplaced)] {
        let count = targets.len() as u64;
        for (osd, position) in targets {
            if let Some(piece) = group.piece_mut(osd, position) {
                piece.lacking = lacking.div_ceil(count).min(objects);
                piece.stored = objects - piece.lacking;
                piece.receive(0, objects);
            }
        }
    }
    // Degraded with every place served: OSDs that serve lack it by their logs.
    if holes == 0 && degraded > 0 {
        let primary = group.primary;
        let mut left = degraded;
        for piece in group.pieces.iter_mut().filter(|piece| piece.is_whole() && piece.osd as i32 != primary) {
            if left > 0 {
                piece.lacking = left.min(objects);
                piece.standing = Standing::ByLog;
                left -= piece.lacking;
            }
        }
    }
}
