//! What changes the map, and the groups that it touches.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::HealError;
use super::Healing;
use super::job::{Job, Owner};
use crate::groups::{
    Group, Protection, Standing, log_entries, merge_into, split_from, with_positions, written_objects,
};
use crate::input::{Change, OsdInput};
use crate::map::{MapChange, Touched, UpScratch, UpSets, parent_of};

impl Healing {
    /// Makes a change of the plan; tells whether anything goes on otherwise than before.
    pub(super) fn make(&mut self, change: &Change) -> Result<bool, HealError> {
        let slowed: Vec<u32> = match change {
            Change::Slow { osds, share } => osds.iter().copied().filter(|&osd| self.map.speed(osd) != *share).collect(),
            _ => Vec::new(),
        };
        let touched = self.map.apply(change)?;
        let what = super::history::sentence(change, &self.map);
        self.record.tell(self.now, what, self.map.epoch());
        if matches!(change, Change::Slow { .. }) && slowed.is_empty() {
            return Ok(false);
        }
        self.changed_at = self.now;
        match change {
            Change::Slow { .. } => slowed.into_iter().for_each(|osd| self.tell_plane(osd)),
            Change::Add { osds } => {
                for added in osds {
                    self.add_osd(added.osd.id);
                }
            }
            Change::Replace { osds } => osds.iter().for_each(|osd| self.replace(osd)),
            Change::Fail { osds } => self.died.extend(osds.iter().map(|&osd| (osd, self.now))),
            Change::Stop { osds } => osds.iter().for_each(|osd| {
                self.died.remove(osd);
            }),
            Change::Settings { .. } => self.set_settings(),
            Change::PoolSize { pool, .. } => {
                if let Some(place) = self.map.pool_index(*pool) {
                    self.protect(place);
                }
            }
            Change::Force { pool, groups } => self.force(*pool, groups),
            _ => {}
        }
        self.refresh(&touched);
        self.resume();
        Ok(true)
    }

    /// Makes a change that an agent asks for.
    pub(super) fn make_by_itself(&mut self, change: &MapChange) {
        self.changed_at = self.now;
        match change {
            MapChange::Split { pool, pg_num } => self.split(*pool, *pg_num),
            MapChange::Merge { pool } => self.merge(*pool),
            _ => {}
        }
        let touched = self.map.act(change);
        if let (MapChange::Stretch(_), Touched::Pools(pools)) = (change, &touched) {
            pools.iter().for_each(|&place| self.protect(place));
        }
        if let Some(what) = super::history::sentence_of(change, &self.map) {
            self.record.tell(self.now, what, self.map.epoch());
        }
        self.refresh(&touched);
    }

    /// A pool has another size or another `min_size`: its groups begin a new interval.
    fn protect(&mut self, place: usize) {
        self.sync_all();
        self.protections[place] = Protection::of(&self.map.pools()[place]);
        self.clients.protect(place, self.protections[place].clone());
        self.counts.measure(&self.groups, &self.protections);
        // Every group differs from the set that it is given next.
        for &number in &self.table.of_pool[place] {
            self.groups[number as usize].up.clear();
        }
    }

    /// Gives every group that a change touched its new set, and a new interval where that is another.
    pub(super) fn refresh(&mut self, touched: &Touched) {
        let (down, up) = self.states_that_changed();
        let hung = std::mem::replace(&mut self.hung, self.map.dead_and_up());
        let changed: BTreeSet<u32> = hung.symmetric_difference(&self.hung).copied().collect();
        let mut others = BTreeSet::new();
        match touched {
            Touched::Nothing => {}
            Touched::Groups(groups) => {
                let of = |&(pool, number): &(usize, u32)| self.table.get(pool, number);
                let numbers: Vec<u32> = groups.iter().filter_map(of).collect();
                self.sets_of_groups(&numbers, &mut others);
            }
            Touched::Holders(osds) => {
                let numbers: Vec<u32> = (0..self.groups.len() as u32)
                    .filter(|&number| {
                        let group = &self.groups[number as usize];
                        group.exists && group.up.iter().any(|&osd| osd >= 0 && osds.contains(&(osd as u32)))
                    })
                    .collect();
                self.sets_of_groups(&numbers, &mut others);
            }
            Touched::Takers { pools, osds, groups } => {
                let named = groups.iter().filter_map(|&(pool, number)| self.table.get(pool, number));
                let served = (0..self.groups.len() as u32).filter(|&number| {
                    let Group { pool, up, exists, .. } = &self.groups[number as usize];
                    *exists && pools.contains(pool) && self.map.may_be_served_by(*pool, up, osds)
                });
                let numbers: BTreeSet<u32> = named.chain(served).collect();
                self.sets_of_groups(&numbers.into_iter().collect::<Vec<_>>(), &mut others);
            }
            Touched::Pools(pools) => pools.iter().for_each(|&pool| self.sets_of_pool(pool, &mut others)),
            Touched::Everything => (0..self.map.pools().len()).for_each(|pool| self.sets_of_pool(pool, &mut others)),
        }
        if !down.is_empty() || !up.is_empty() {
            self.stop_deletions(&down);
            self.groups_of_states(&down, &up, &mut others);
        }
        for number in others {
            self.peer(number);
        }
        self.groups_that_hang(&changed);
    }

    /// Requests to an OSD that is dead and stays up in the map hang: its groups serve nobody, until it is marked down or starts.
    fn groups_that_hang(&mut self, changed: &BTreeSet<u32>) {
        if changed.is_empty() {
            return;
        }
        for number in 0..self.groups.len() as u32 {
            let group = &self.groups[number as usize];
            if group.exists && group.pieces.iter().any(|piece| changed.contains(&piece.osd)) {
                self.retally(number);
                self.clients.serve(number, &self.groups[number as usize]);
            }
        }
    }

    /// (newly down, newly up) OSDs.
    fn states_that_changed(&mut self) -> (BTreeSet<u32>, BTreeSet<u32>) {
        let (mut down, mut up) = (BTreeSet::new(), BTreeSet::new());
        for osd in 0..self.was_up.len() as u32 {
            let is_up = self.map.is_up(osd);
            match (std::mem::replace(&mut self.was_up[osd as usize], is_up), is_up) {
                (true, false) => {
                    down.insert(osd);
                }
                (false, true) => {
                    up.insert(osd);
                }
                _ => {}
            }
        }
        (down, up)
    }

    /// Groups that an OSD serves which is down now, or that an OSD has a piece of which is up again.
    fn groups_of_states(&mut self, down: &BTreeSet<u32>, up: &BTreeSet<u32>, others: &mut BTreeSet<u32>) {
        let mut pieces_on = vec![0_u64; self.was_up.len()];
        if !up.is_empty() {
            for piece in self.groups.iter().flat_map(|group| &group.pieces) {
                pieces_on[piece.osd as usize] += 1;
            }
        }
        for number in 0..self.groups.len() as u32 {
            let group = &self.groups[number as usize];
            if group.acting.iter().any(|&osd| osd >= 0 && down.contains(&(osd as u32))) {
                others.insert(number);
            }
            let lost: Vec<u32> = group.pieces.iter().map(|piece| piece.osd).filter(|osd| down.contains(osd)).collect();
            if !lost.is_empty() {
                let served = self.served(number);
                let away = &mut self.jobs[number as usize].away;
                away.retain(|(osd, _)| !lost.contains(osd));
                away.extend(lost.into_iter().map(|osd| (osd, served)));
                // Who is at risk counts pieces on OSDs that serve nothing, too.
                self.retally(number);
            }
            let back: Vec<usize> = (0..self.groups[number as usize].pieces.len())
                .filter(|&at| up.contains(&self.groups[number as usize].pieces[at].osd))
                .collect();
            for at in back {
                self.piece_returns(number, at, &pieces_on);
                others.insert(number);
            }
        }
    }

    /// A piece is up again: it lacks what was written meanwhile.
    fn piece_returns(&mut self, number: u32, at: usize, pieces_on: &[u64]) {
        let group = &self.groups[number as usize];
        let piece = group.pieces[at];
        let away = &self.jobs[number as usize].away;
        let Some(&(_, served)) = away.iter().find(|(osd, _)| *osd == piece.osd) else { return };
        // A group that serves nobody is not written.
        let writes = self.clients.writes_per_second(group) * (self.served(number).seconds() - served.seconds());
        let objects = group.contents.objects;
        let written = written_objects(objects, writes);
        let entries = log_entries(self.map.settings_of(piece.osd), pieces_on[piece.osd as usize]);
        let piece = &mut self.groups[number as usize].pieces[at];
        if piece.standing == Standing::Leaving {
            // Its deletion was dropped when its OSD went down: whoever needs it begins anew, else it is deleted again.
            (piece.standing, piece.lacking) = (Standing::Filling, objects);
            return;
        }
        if written == 0 {
            return;
        }
        let had = objects - piece.lacking.min(objects);
        piece.lacking += super::moving::share(written, had, objects).min(had);
        let by_log = piece.standing != Standing::Filling && writes <= entries as f64;
        piece.standing = if by_log { Standing::ByLog } else { Standing::Filling };
    }

    fn sets_of_groups(&mut self, numbers: &[u32], others: &mut BTreeSet<u32>) {
        let up_of = |scratch: &mut UpScratch, &number: &u32| {
            let group = &self.groups[number as usize];
            let up = self.map.up_of(group.pool, group.number, scratch);
            (number, with_positions(up.set, &self.protections[group.pool]), up.primary)
        };
        let sets: Vec<_> = numbers.par_iter().map_init(UpScratch::default, up_of).collect();
        for (number, set, primary) in sets {
            self.set_up(number, set, primary, others);
        }
    }

    fn sets_of_pool(&mut self, pool: usize, others: &mut BTreeSet<u32>) {
        let mut sets = UpSets::default();
        self.map.up_sets(pool, &mut sets);
        for place in 0..sets.groups() {
            if let Some(number) = self.table.get(pool, place) {
                let set = with_positions(sets.set(place), &self.protections[pool]);
                self.set_up(number, set, sets.primary(place), others);
            }
        }
    }

    fn set_up(&mut self, number: u32, set: Vec<i32>, primary: i32, others: &mut BTreeSet<u32>) {
        let group = &self.groups[number as usize];
        if group.up == set && group.up_primary == primary {
            return;
        }
        // What has come is counted by the sets that the group still has: by others it might be another's.
        if let Some(id) = self.jobs[number as usize].work {
            self.sync_work(id);
        }
        let group = &mut self.groups[number as usize];
        (group.up, group.up_primary) = (set, primary);
        others.insert(number);
    }

    /// Deletions on OSDs that are down are dropped; what is left of the pieces stays there.
    fn stop_deletions(&mut self, down: &BTreeSet<u32>) {
        for number in 0..self.deletions.len() {
            let Some(deletion) = self.deletions[number].filter(|deletion| down.contains(&deletion.osd)) else {
                continue;
            };
            if let Some(id) = deletion.work {
                self.stop_work(id);
            }
            self.reservations.release(Owner::Deletion(number as u32).claimant());
            self.deletions[number] = None;
            self.counts.totals.deleting -= 1;
        }
    }

    /// Works whose OSDs died stop; groups that a flag or a death held go on where nothing holds them now.
    pub(super) fn resume(&mut self) {
        for number in 0..self.groups.len() as u32 {
            let job = &self.jobs[number as usize];
            let held = matches!(job.moving, crate::groups::Moving::Backfilling | crate::groups::Moving::Recovering);
            if !held {
                continue;
            }
            match (job.work, self.may_move(number)) {
                (Some(id), false) => {
                    self.jobs[number as usize].work = None;
                    self.stop_work(id);
                    self.wait(number, Some(super::job::Cause::Paused));
                }
                (None, true) => self.move_group(number),
                _ => {}
            }
        }
    }

    /// A stopped OSD has another device: what it had of groups is gone, and its course begins anew.
    fn replace(&mut self, osd: &OsdInput) {
        self.sync_all();
        self.stop_deletions(&BTreeSet::from([osd.id]));
        let mut emptied = BTreeSet::new();
        for number in 0..self.groups.len() as u32 {
            self.jobs[number as usize].away.retain(|&(away, _)| away != osd.id);
            self.first_holders[number as usize].retain(|&(holder, _)| holder != osd.id);
            while let Some(piece) = self.groups[number as usize].pieces.iter().find(|piece| piece.osd == osd.id) {
                let position = piece.position;
                self.halt(number);
                self.drop_piece(number, osd.id, position);
                emptied.insert(number);
            }
        }
        self.fill.replace(self.now, osd);
        self.tell_plane(osd.id);
        self.judge_osd(osd.id);
        emptied.into_iter().for_each(|number| self.peer(number));
    }

    fn set_settings(&mut self) {
        let osds: Vec<u32> = self.map.osds().map(|osd| osd.id).collect();
        for osd in osds {
            self.tell_settings(osd);
        }
        self.has_room = true;
    }

    fn force(&mut self, pool: i64, groups: &[u32]) {
        let Some(place) = self.map.pool_index(pool) else { return };
        let numbers: Vec<u32> = if groups.is_empty() {
            self.table.of_pool[place].clone()
        } else {
            groups.iter().filter_map(|&number| self.table.get(place, number)).collect()
        };
        for number in numbers {
            let job = &self.jobs[number as usize];
            if job.fill.is_empty() && job.recover.is_empty() {
                continue;
            }
            let kind = job.kind();
            self.groups[number as usize].forced = true;
            let priority = self.priority(number, kind);
            self.reservations.change(number, priority);
        }
    }

    fn split(&mut self, pool: usize, pg_num: u32) {
        for number in self.map.pools()[pool].pool.pg_num..pg_num {
            let Some(parent) = self.table.get(pool, parent_of(number, number)) else { continue };
            self.halt(parent);
            self.drop_leaving(parent);
            self.unhold(parent);
            let child = split_from(&mut self.groups[parent as usize], number);
            let at = self.groups.len() as u32;
            self.groups.push(child);
            self.first_holders.push(self.first_holders[parent as usize].clone());
            let since = self.now;
            let of_parent = &self.jobs[parent as usize];
            let (turned, served, away) = (of_parent.turned, of_parent.served, of_parent.away.clone());
            self.jobs.push(Job { since, turned, served, away, ..Job::default() });
            self.table.of_pool[pool].push(at);
            self.hold(parent);
            self.hold(at);
            self.peer(parent);
            self.peer(at);
        }
        self.clients.measure(&self.groups);
    }

    fn merge(&mut self, pool: usize) {
        let Some(&child) = self.table.of_pool[pool].last() else { return };
        let last = self.groups[child as usize].number;
        let Some(parent) = self.table.get(pool, parent_of(last, last)) else { return };
        for group in [parent, child] {
            self.halt(group);
            self.drop_leaving(group);
            self.unhold(group);
        }
        let gone = self.groups[child as usize].clone();
        merge_into(&mut self.groups[parent as usize], &gone);
        self.merged.push((child, parent));
        self.groups[child as usize].exists = false;
        self.groups[child as usize].pieces.clear();
        self.count_out(child);
        self.table.of_pool[pool].pop();
        self.hold(parent);
        self.clients.serve(child, &self.groups[child as usize]);
        self.clients.measure(&self.groups);
        self.peer(parent);
    }

    /// Pieces of a group that are being deleted go at once, before it is split or merged.
    fn drop_leaving(&mut self, number: u32) {
        let leaving: Vec<(u32, u8)> = self.groups[number as usize]
            .pieces
            .iter()
            .filter(|piece| piece.standing == Standing::Leaving)
            .map(|piece| (piece.osd, piece.position))
            .collect();
        for (osd, position) in leaving {
            self.give_up_deletion(number, osd, position);
        }
    }
}
