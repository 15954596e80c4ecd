//! A run that is counted from a later time on, as if it began there.

use super::Healing;
use super::holding::first_holders;
use crate::fill::Watch;
use crate::groups::Contents;

impl Healing {
    /// Begins to count once the time has come. Until when pools were degraded and the like stays: none of these times is later than now.
    pub(super) fn count_from_here(&mut self) {
        if self.counted_from.is_none_or(|at| at > self.now) {
            return;
        }
        self.counted_from = None;
        self.sync_all();
        self.record.restart();
        for (_, since) in self.jobs.iter_mut().filter_map(|job| job.waits.as_mut()) {
            *since = self.now;
        }
        let osds: Vec<u32> = self.fill.iter().map(|(osd, _)| osd).collect();
        for osd in osds {
            if let Some(space) = self.fill.space_mut(osd) {
                space.watch = Watch::default();
            }
        }
        // What groups held that were merged is their heirs' from the beginning.
        for (child, _) in std::mem::take(&mut self.merged) {
            self.groups[child as usize].contents = Contents::default();
        }
        self.first_holders = self.groups.iter().map(first_holders).collect();
        self.first_groups = self.groups.len();
        self.first_map = self.map.clone();
        self.first_room = self.room_at_start();
        self.lacking = super::Lacking::default();
        for number in 0..self.groups.len() as u32 {
            self.note_lacking(number);
        }
        self.sample();
    }
}
