//! Groups that lack pieces: from when to when, and who holds what is left.

use resilver_units::SimTime;

use super::Healing;
use crate::groups::{Group, places_held};

/// A time in which a group lacked pieces, and the same OSDs held all that was left of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spell {
    pub(crate) group: u32,
    pub(crate) from: SimTime,
    /// None where it still is so at the end.
    pub(crate) until: Option<SimTime>,
    /// Whose loss would take a piece more, by rising number.
    pub(crate) holders: Vec<u32>,
    /// How many of them may still be lost; below 0 where data is lost already.
    pub(crate) survives: i64,
}

/// The spells of a run, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Lacking {
    pub(crate) spells: Vec<Spell>,
    /// The spell that each group is in.
    open: Vec<Option<u32>>,
}

impl Lacking {
    fn note(&mut self, now: SimTime, number: u32, left: Option<(Vec<u32>, i64)>) {
        let number = number as usize;
        if self.open.len() <= number {
            self.open.resize(number + 1, None);
        }
        if let Some(at) = self.open[number] {
            let spell = &mut self.spells[at as usize];
            if left.as_ref().is_some_and(|(holders, _)| *holders == spell.holders) {
                return;
            }
            spell.until = Some(now);
            self.open[number] = None;
        }
        if let Some((holders, survives)) = left {
            self.open[number] = Some(self.spells.len() as u32);
            self.spells.push(Spell { group: number as u32, from: now, until: None, holders, survives });
        }
    }
}

impl Healing {
    /// The spells of the run so far.
    pub(crate) fn spells(&self) -> &[Spell] {
        &self.lacking.spells
    }

    /// Notes whether a group lacks pieces now. What is on an OSD that was stopped in order is away, and not lost.
    pub(super) fn note_lacking(&mut self, number: u32) {
        let group = &self.groups[number as usize];
        let left = if group.exists && group.contents.objects > 0 { self.what_is_left(group) } else { None };
        self.lacking.note(self.now, number, left);
    }

    /// (holders, how many of them may still be lost) of a group that lacks pieces.
    fn what_is_left(&self, group: &Group) -> Option<(Vec<u32>, i64)> {
        let protection = &self.protections[group.pool];
        let is_dead = |osd: u32| self.died.contains_key(&osd) && !self.map.runs(osd);
        let held = places_held(&group.pieces, protection, |piece| piece.is_whole() && !is_dead(piece.osd));
        if held.count_ones() >= protection.size {
            return None;
        }
        // Of a position that two OSDs hold, one counts.
        let mut holders: Vec<(u8, u32)> = group
            .pieces
            .iter()
            .filter(|piece| piece.is_whole() && !is_dead(piece.osd))
            .map(|piece| (piece.position, piece.osd))
            .collect();
        holders.sort_unstable();
        if protection.is_coded() {
            holders.dedup_by_key(|&mut (position, _)| position);
        }
        let mut osds: Vec<u32> = holders.into_iter().map(|(_, osd)| osd).collect();
        osds.sort_unstable();
        Some((osds, protection.spare(held)))
    }
}
