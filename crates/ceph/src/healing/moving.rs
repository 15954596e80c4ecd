//! What moves: works of the plane begin, are counted, and end.

use super::Healing;
use super::job::{Owner, Running};
use crate::groups::{Contents, Group, Protection};
use crate::input::Flag;
use crate::plane::{Limit, OpClass, Work, WorkId, WorkKind};
use crate::reserve::{ClaimKind, ItemKey};

/// The objects that a group moves next, all at a time.
struct Phase {
    objects: u64,
    targets: Vec<(u32, u8)>,
}

/// The next phase of a group: OSDs that lack most get what the others have already.
///
/// Objects are walked in one order, so that what a target lacks is the end of that order.
fn next_phase(group: &Group, targets: &[(u32, u8)]) -> Option<Phase> {
    let lacks = |&(osd, position): &(u32, u8)| group.piece(osd, position).map_or(0, |piece| piece.lacking);
    let most = targets.iter().map(lacks).max().filter(|&most| most > 0)?;
    let next = targets.iter().map(lacks).filter(|&lacking| lacking < most).max().unwrap_or(0);
    let targets = targets.iter().copied().filter(|target| lacks(target) == most).collect();
    Some(Phase { objects: most - next, targets })
}

/// (kind, OSDs that are read, of how many parts of a piece each reads one) of a phase: what the primary does for each object.
fn way_of(group: &Group, protection: &Protection, targets: &[(u32, u8)]) -> (WorkKind, Vec<u32>, u32) {
    let whole: Vec<(u32, u8)> = group
        .serving(protection.is_coded())
        .filter(|&(osd, position)| group.piece(osd, position).is_some_and(|piece| piece.is_whole()))
        .collect();
    let primary = group.primary as u32;
    if !protection.is_coded() {
        let pulls = targets.iter().any(|&(osd, _)| osd == primary);
        let source = whole.iter().map(|&(osd, _)| osd).find(|&osd| osd != primary);
        return if pulls { (WorkKind::Pull, source.into_iter().collect(), 1) } else { (WorkKind::Push, Vec::new(), 1) };
    }
    let of_position = |position: u8| whole.iter().find(|&&(_, other)| other == position).map(|&(osd, _)| osd);
    let forward: Option<Vec<u32>> = targets.iter().map(|&(_, position)| of_position(position)).collect();
    if let Some(sources) = forward {
        return (WorkKind::Forward, sources, 1);
    }
    let set = |members: &[(u32, u8)]| members.iter().fold(0_u64, |set, &(_, position)| set | 1 << position);
    let (of_code, parts) = match protection.code.as_ref().and_then(|code| code.gathers(set(&whole), set(targets))) {
        Some((positions, parts)) => (positions, parts),
        None => (set(&whole[..whole.len().min(protection.data_pieces as usize)]), 1),
    };
    let decoded = whole.iter().filter(|&&(_, position)| of_code >> position & 1 == 1);
    (WorkKind::Decode, decoded.map(|&(osd, _)| osd).collect(), parts)
}

impl Healing {
    /// Whether nothing holds a group that has its reservations.
    pub(super) fn may_move(&self, number: u32) -> bool {
        let group = &self.groups[number as usize];
        let job = &self.jobs[number as usize];
        let protection = &self.protections[group.pool];
        let degraded = group.tally.degraded > 0 || group.tally.is_undersized;
        let held = self.map.has(Flag::NoRecover)
            || job.recover.is_empty() && self.map.has(Flag::NoBackfill)
            || job.recover.is_empty() && self.map.has(Flag::NoRebalance) && !degraded;
        let members = group.serving(protection.is_coded()).chain(job.targets().iter().copied());
        !held && members.into_iter().all(|(osd, _)| self.map.runs(osd))
    }

    /// Begins what a group with all its reservations moves next; ends its claim where that is nothing.
    pub(super) fn move_group(&mut self, number: u32) {
        if !self.may_move(number) {
            self.wait(number, Some(super::job::Cause::Paused));
            return;
        }
        let group = &self.groups[number as usize];
        let protection = &self.protections[group.pool];
        let job = &self.jobs[number as usize];
        let Some(phase) = next_phase(group, job.targets()) else {
            self.finish_group(number);
            return;
        };
        let (kind, sources, source_parts) = way_of(group, protection, &phase.targets);
        let repairs = group.forced || group.tally.is_undersized || group.tally.degraded > 0;
        let class = if repairs { OpClass::Recovery } else { OpClass::BestEffort };
        let mut targets = phase.targets;
        // The plane writes what the primary itself gets first.
        targets.sort_by_key(|&(osd, _)| osd as i32 != group.primary && kind == WorkKind::Pull);
        let work = Work {
            kind,
            class,
            group: ItemKey::new(group.pool, group.number, 0).0,
            primary: group.primary as u32,
            objects: phase.objects,
            piece_bytes: group.contents.moved_piece_bytes(protection),
            data_pieces: protection.data_pieces,
            sources: sources.clone(),
            source_parts,
            targets: targets.iter().map(|&(osd, _)| osd).collect(),
            by_log: job.kind() == ClaimKind::Recovery,
        };
        let read = if sources.is_empty() { vec![work.primary] } else { sources };
        self.wait(number, None);
        let id = self.start_work(Owner::Group(number), work, targets, read);
        self.jobs[number as usize].work = Some(id);
    }

    pub(super) fn start_work(&mut self, owner: Owner, work: Work, targets: Vec<(u32, u8)>, read: Vec<u32>) -> WorkId {
        let id = self.free_works.pop().unwrap_or_else(|| {
            self.works.push(None);
            self.works.len() as WorkId - 1
        });
        for &(osd, _) in &targets {
            self.works_on[osd as usize].push(id);
        }
        let (piece_bytes, objects) = (work.piece_bytes, work.objects);
        let read_bytes = piece_bytes / u64::from(work.source_parts);
        self.works[id as usize] = Some(Running {
            owner,
            targets,
            read,
            piece_bytes,
            read_bytes,
            seen: 0,
            objects,
            accounted: self.now,
            is_over: false,
        });
        self.digest.fold_pair(self.now.picoseconds(), u64::from(id) << 32 | u64::from(owner.claimant()));
        self.plane.start(self.now, id, work);
        self.under_way += 1;
        id
    }

    /// Ends a work early; what it did stays.
    pub(super) fn stop_work(&mut self, id: WorkId) {
        if self.works[id as usize].as_ref().is_some_and(|running| !running.is_over) {
            self.account_work(id);
            let done = self.plane.stop(self.now, id).objects;
            self.count_work(id, done);
        }
        self.drop_work(id);
    }

    fn drop_work(&mut self, id: WorkId) {
        if let Some(running) = self.works[id as usize].take() {
            for (osd, _) in running.targets {
                self.works_on[osd as usize].retain(|&other| other != id);
            }
            self.free_works.push(id);
            self.under_way -= 1;
            self.changed_at = self.now;
        }
    }

    /// Works of the plane ended by themselves, all at one time.
    pub(super) fn end_works(&mut self, ended: &[WorkId]) {
        // The plane knows none of them any more, so that all are counted before any is followed up.
        for &id in ended {
            let Some(objects) = self.works[id as usize].as_ref().map(|running| running.objects) else { continue };
            self.account_work(id);
            self.count_work(id, objects);
            if let Some(running) = &mut self.works[id as usize] {
                running.is_over = true;
            }
        }
        for &id in ended {
            // What follows of one may have ended another's claim, and begun a new work of its number.
            if self.works[id as usize].as_ref().is_some_and(|running| running.is_over) {
                self.end_work(id);
            }
        }
    }

    fn end_work(&mut self, id: WorkId) {
        let Some(running) = &self.works[id as usize] else { return };
        let owner = running.owner;
        let osds: Vec<u32> = running.targets.iter().map(|&(osd, _)| osd).collect();
        self.digest.fold_pair(self.now.picoseconds(), u64::from(id));
        self.drop_work(id);
        for &osd in &osds {
            self.count_osd(osd);
        }
        match owner {
            Owner::Group(number) => {
                self.jobs[number as usize].work = None;
                self.move_group(number);
            }
            Owner::Deletion(deletion) => self.finish_deletion(deletion),
        }
        // What is whole now cannot be refused for space any more, so that its OSDs are judged last.
        for osd in osds {
            self.judge_osd(osd);
        }
    }

    /// Counts what is done of every work that writes to an OSD or deletes from it, and looks how full it is.
    pub(super) fn sync_osd(&mut self, osd: u32) {
        self.count_osd(osd);
        self.judge_osd(osd);
    }

    fn count_osd(&mut self, osd: u32) {
        for at in 0..self.works_on[osd as usize].len() {
            let id = self.works_on[osd as usize][at];
            self.sync_work(id);
        }
        self.fill.note(self.now, osd);
    }

    /// Counts what is done of a work.
    pub(super) fn sync_work(&mut self, id: WorkId) {
        // At one time nothing more is done, and a plane need not find its rates anew between two changes of that time.
        if self.works[id as usize].as_ref().is_none_or(|running| running.is_over || running.accounted == self.now) {
            return;
        }
        self.account_work(id);
        let done = self.plane.progress(self.now, id).objects;
        self.count_work(id, done);
    }

    /// Puts the time of a work since it was looked at last down to what limits it.
    fn account_work(&mut self, id: WorkId) {
        let Some(running) = &mut self.works[id as usize] else { return };
        let seconds = self.now.since(running.accounted).seconds();
        running.accounted = self.now;
        if !matches!(running.owner, Owner::Group(_)) || seconds <= 0.0 {
            return;
        }
        let osd = |osd: u32| format!("osd.{osd}");
        let (kind, name) = match self.plane.limit(id) {
            Some(Limit::MclockLimit { osd: at }) => ("mclock limit", osd(at)),
            Some(Limit::Sleep { osd: at }) => ("sleep", osd(at)),
            Some(Limit::Window { osd: at }) => ("objects under way", osd(at)),
            Some(Limit::Device { osd: at }) => ("device", osd(at)),
            Some(Limit::Threads { osd: at }) => ("threads", osd(at)),
            Some(Limit::Network { osd: at }) => ("network", self.host_of(at)),
            None => ("moving", String::new()),
        };
        self.record.limited(kind, name, seconds);
    }

    /// Counts what is done of every work.
    pub(super) fn sync_all(&mut self) {
        for id in 0..self.works.len() as WorkId {
            self.sync_work(id);
        }
    }

    fn count_work(&mut self, id: WorkId, done: u64) {
        let Some(running) = &mut self.works[id as usize] else { return };
        let came = done.min(running.objects).saturating_sub(running.seen);
        if came == 0 {
            return;
        }
        running.seen += came;
        let running = running.clone();
        match running.owner {
            Owner::Group(number) => self.count_group(number, &running, came),
            Owner::Deletion(deletion) => self.count_deletion(deletion, came),
        }
    }

    fn count_group(&mut self, number: u32, running: &Running, came: u64) {
        let group = &mut self.groups[number as usize];
        let protection = &self.protections[group.pool];
        let contents = group.contents;
        let bytes = came * running.piece_bytes;
        let logical = logical_piece_bytes(&contents, protection);
        for &(osd, position) in &running.targets {
            let (Some(piece), Some(space)) = (group.piece_mut(osd, position), self.fill.space_mut(osd)) else {
                continue;
            };
            let before = contents.allocated(protection, piece.stored, space.min_alloc);
            // The last object makes a piece complete, which the end of the claim says.
            piece.lacking -= came.min(piece.lacking);
            piece.stored = (piece.stored + came).min(contents.objects);
            space.held = space.held - before + contents.allocated(protection, piece.stored, space.min_alloc);
            space.received += bytes;
            let local = share(logical, contents.objects - piece.lacking, contents.objects);
            self.fill.came(osd, number, local);
        }
        for &osd in &running.read {
            if let Some(space) = self.fill.space_mut(osd) {
                space.sent += came * running.read_bytes;
            }
        }
        // A group that lacks copies may move others too: what made lacking ones anew is what it lacks no more.
        let (pool, lacked) = (group.pool, group.tally.degraded);
        self.retally(number);
        let all = came * running.targets.len() as u64;
        let recovered = lacked.saturating_sub(self.groups[number as usize].tally.degraded).min(all);
        let [made, moved] = [recovered, all - recovered].map(|objects| objects * running.piece_bytes);
        self.record.moved.recovered_objects += recovered;
        self.record.moved.recovered_bytes += made;
        self.record.moved.moved_bytes += moved;
        self.record.by_pool[pool].0 += made;
        self.record.by_pool[pool].1 += moved;
    }

    /// Everything that a claim was for has come.
    fn finish_group(&mut self, number: u32) {
        let group = &mut self.groups[number as usize];
        let objects = group.contents.objects;
        for &(osd, position) in self.jobs[number as usize].targets() {
            if let Some(piece) = group.piece_mut(osd, position) {
                piece.receive(0, objects);
            }
        }
        self.changed_at = self.now;
        self.peer(number);
    }
}

/// Bytes of a group's piece as Ceph reckons them when it promises space: without omap and without what allocation rounds up.
///
/// `PG::try_reserve_recovery_space` adds a chunk an object under a code, but to both the bytes of the primary and those of the
/// target, so that what is pending has none of it.
pub(super) fn logical_piece_bytes(contents: &Contents, protection: &Protection) -> u64 {
    contents.bytes / u64::from(protection.data_pieces)
}

/// The part of some bytes that so many of the objects have.
pub(super) fn share(bytes: u64, part: u64, objects: u64) -> u64 {
    if objects == 0 { 0 } else { (u128::from(bytes) * u128::from(part) / u128::from(objects)) as u64 }
}
