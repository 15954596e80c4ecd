//! What is looked at on the way: rows of the timeline, how full OSDs are, what clients ask.

use std::collections::BTreeMap;

use super::{Healing, record};
use crate::fill::Fullness;
use crate::groups::Moving;
use crate::plane::ClientState;

impl Healing {
    /// Adds a row to the timeline.
    pub(super) fn sample(&mut self) {
        self.sync_all();
        let osds: Vec<u32> = self.fill.iter().map(|(osd, _)| osd).collect();
        for osd in osds {
            self.fill.note(self.now, osd);
            self.judge_osd(osd);
        }
        let (mut clients, hanging) = (Vec::new(), self.hanging());
        if self.clients.is_any() {
            let mut states: Vec<Option<ClientState>> = vec![None; self.works_on.len()];
            let (plane, now) = (&mut self.plane, self.now);
            let mut of = |osd: u32| *states[osd as usize].get_or_insert_with(|| plane.clients(now, osd));
            for (pool, numbers) in self.table.of_pool.iter().enumerate() {
                let served = self.clients.served(pool, numbers, &hanging, &mut of);
                clients.extend(served.map(|served| (pool, served)));
            }
        }
        let seconds = self.now.seconds();
        let (totals, moved) = (self.counts.totals, self.record.moved);
        let (fill, hangs) = (record::fill_row(&self.fill), !hanging.is_empty());
        self.record.add(record::Sample { seconds, totals, moved, fill, clients, hangs });
    }

    /// OSDs that died and that the monitors have not marked down yet, with the seconds until they do.
    fn hanging(&self) -> BTreeMap<u32, f64> {
        if !self.map.can_mark_down() {
            return BTreeMap::new();
        }
        let grace = self.map.settings.osd_heartbeat_grace;
        let undetected = self.died.iter().filter(|&(&osd, _)| self.map.is_up(osd) && !self.map.runs(osd));
        undetected.map(|(&osd, &since)| (osd, (grace - self.now.since(since).seconds()).max(0.0))).collect()
    }

    /// Looks how full an OSD is: backfills to one that is backfillfull stop, and pools of one that is full are not written.
    pub(super) fn judge_osd(&mut self, osd: u32) {
        let fullness = self.fill.judge(osd, 0);
        if fullness >= Fullness::Backfillfull {
            for claimant in self.fill.promised(osd) {
                if self.jobs[claimant as usize].moving == Moving::Backfilling {
                    self.too_full(claimant, osd);
                }
            }
        }
        let is_full = fullness >= Fullness::Full;
        if std::mem::replace(&mut self.full[osd as usize], is_full) != is_full {
            let mut pools = vec![false; self.protections.len()];
            for group in &self.groups {
                let serves = |&osd: &i32| osd >= 0 && self.full.get(osd as usize) == Some(&true);
                if group.acting.iter().any(serves) {
                    pools[group.pool] = true;
                }
            }
            self.clients.set_full(pools);
        }
    }

    /// Tells the plane what clients ask of each OSD, where that is something else now.
    pub(super) fn tell_clients(&mut self) {
        for (osd, load) in self.clients.take_changed() {
            self.plane.set_clients(self.now, osd, load);
        }
    }
}
