//! New intervals of groups, and their claims.

use resilver_units::{SimDuration, SimTime};

use super::Healing;
use super::job::{Cause, Owner};
use super::moving::{logical_piece_bytes, share};
use crate::fill::Fullness;
use crate::groups::{self, Moving, Piece, Standing, Tally, members};
use crate::reserve::{self, ClaimKind, Claimant, FORCED_BACKFILL, FORCED_RECOVERY, ItemKey, Verdict};

impl Healing {
    /// Begins a new interval of a group: what it had under way stops, and it goes on from what its OSDs have.
    pub(super) fn peer(&mut self, number: u32) {
        self.halt(number);
        let group = &self.groups[number as usize];
        if !group.exists {
            return;
        }
        let protection = &self.protections[group.pool];
        let mut peers = groups::choose(group, protection, self.map.barrier(group.pool), &|osd| self.map.is_up(osd));
        let group = &mut self.groups[number as usize];
        (group.acting, group.primary, group.withheld) = (peers.acting, peers.primary, None);
        for &(osd, position) in &peers.fill {
            let piece = self.groups[number as usize].piece(osd, position);
            if piece.is_some_and(|piece| piece.standing == Standing::Leaving) {
                self.give_up_deletion(number, osd, position);
            }
            let takes_on = self.takes_on(osd);
            let group = &mut self.groups[number as usize];
            if group.piece(osd, position).is_some() {
                continue;
            }
            if !takes_on {
                group.withheld.get_or_insert(osd);
                continue;
            }
            group.pieces.push(Piece::empty(osd, position, group.contents.objects));
            if let Some(space) = self.fill.space_mut(osd) {
                space.groups += 1;
            }
        }
        if self.groups[number as usize].withheld.is_some() {
            // It waits for the OSD to activate it, and nothing moves before.
            (peers.fill, peers.recover) = (Vec::new(), Vec::new());
            self.withheld.insert(number);
        } else {
            self.withheld.remove(&number);
        }
        let job = &mut self.jobs[number as usize];
        (job.fill, job.recover, job.refused) = (peers.fill, peers.recover, None);
        self.retally(number);
        self.clients.serve(number, &self.groups[number as usize]);
        self.proceed(number);
    }

    /// Whether an OSD takes on another group.
    fn takes_on(&self, osd: u32) -> bool {
        let most = self.map.settings_of(osd).most_groups();
        most.is_none_or(|most| self.fill.space(osd).is_none_or(|space| space.groups < most))
    }

    /// Groups that an OSD withheld begin a new interval where it takes on more now.
    pub(super) fn take_on(&mut self) {
        if !std::mem::take(&mut self.has_room) {
            return;
        }
        for number in self.withheld.clone() {
            if self.groups[number as usize].withheld.is_some_and(|osd| self.takes_on(osd)) {
                self.peer(number);
            }
        }
    }

    /// Stops what a group has under way, and gives its claims up.
    pub(super) fn halt(&mut self, number: u32) {
        if let Some(id) = self.jobs[number as usize].work.take() {
            self.stop_work(id);
        }
        self.give_up_claim(number);
        self.wait(number, None);
        if let Some(at) = self.jobs[number as usize].retry.take() {
            self.timers.remove(&(at, number));
        }
    }

    /// Gives up a group's claim, and what its targets were promised.
    pub(super) fn give_up_claim(&mut self, number: u32) {
        self.reservations.release(number);
        for at in 0..self.jobs[number as usize].fill.len() {
            let osd = self.jobs[number as usize].fill[at].0;
            self.fill.forget(self.now, osd, number);
        }
    }

    /// Claims what a group needs next; a group that needs nothing drops what is left over.
    fn proceed(&mut self, number: u32) {
        let (group, job) = (&self.groups[number as usize], &self.jobs[number as usize]);
        if group.primary < 0 || group.withheld.is_some() {
            self.set_moving(number, Moving::No);
            return;
        }
        if job.fill.is_empty() && job.recover.is_empty() {
            self.groups[number as usize].forced = false;
            self.set_moving(number, Moving::No);
            self.purge(number);
            return;
        }
        let settings = self.map.settings_of(group.primary as u32);
        if group.tally.is_inactive && !settings.osd_allow_recovery_below_min_size {
            self.set_moving(number, Moving::No);
            return;
        }
        self.claim(number);
    }

    /// Asks for a group's reservations. A recovery is refused where an OSD of it is full.
    pub(super) fn claim(&mut self, number: u32) {
        let (group, job) = (&self.groups[number as usize], &self.jobs[number as usize]);
        let coded = self.protections[group.pool].is_coded();
        let primary = group.primary as u32;
        let kind = job.kind();
        let own = members(&group.acting, coded).find(|&(osd, _)| osd == primary).map_or(0, |(_, position)| position);
        let mut remotes = job.fill.clone();
        if kind == ClaimKind::Recovery {
            remotes.extend(group.serving(coded).filter(|&(osd, _)| osd != primary));
            let full = remotes.iter().map(|&(osd, _)| osd).chain([primary]).find(|&osd| self.is_full(osd));
            if let Some(osd) = full {
                let seconds = self.map.settings_of(primary).osd_recovery_retry_interval;
                self.jobs[number as usize].refused.get_or_insert(self.now);
                self.set_moving(number, Moving::RecoveryToofull);
                self.try_later(number, Cause::Space(osd), seconds);
                return;
            }
        }
        remotes.sort_unstable();
        remotes.dedup();
        let key = |position| ItemKey::new(group.pool, group.number, position);
        let slots: Vec<(u32, ItemKey)> = remotes.iter().map(|&(osd, position)| (osd, key(position))).collect();
        let local = (primary, key(own));
        let priority = self.priority(number, kind);
        let waits = if kind == ClaimKind::Recovery { Moving::RecoveryWait } else { Moving::BackfillWait };
        self.set_moving(number, waits);
        self.wait(number, Some(Cause::Local(primary)));
        self.reservations.request(number, kind, priority, local, slots);
    }

    fn is_full(&self, osd: u32) -> bool {
        self.fill.judge(osd, 0) >= Fullness::Full
    }

    /// The priority of what a group claims.
    pub(super) fn priority(&self, number: u32, kind: ClaimKind) -> i32 {
        let group = &self.groups[number as usize];
        let protection = &self.protections[group.pool];
        let serving = group.serving_count();
        let lacking = self.jobs[number as usize].recover.len() as u32;
        let standing = reserve::Standing {
            acting: serving,
            size: protection.size,
            min_size: protection.min_size,
            degraded: group.tally.degraded > 0,
            without_missing: serving.saturating_sub(lacking),
            pool: self.map.pools()[group.pool].recovery_priority,
        };
        match (kind, group.forced) {
            (ClaimKind::Recovery, true) => FORCED_RECOVERY,
            (_, true) => FORCED_BACKFILL,
            (ClaimKind::Recovery, false) => reserve::recovery_priority(standing),
            (_, false) => reserve::backfill_priority(standing),
        }
    }

    /// Hears all that reservers said.
    pub(super) fn settle(&mut self) {
        while let Some(verdict) = self.reservations.step() {
            match verdict {
                Verdict::Asks(claimant, osd) => self.ask_target(claimant, osd),
                Verdict::Held(claimant) => match Owner::of(claimant) {
                    Owner::Group(number) => {
                        let kind = self.jobs[number as usize].kind();
                        let moving = if kind == ClaimKind::Recovery { Moving::Recovering } else { Moving::Backfilling };
                        self.jobs[number as usize].refused = None;
                        self.set_moving(number, moving);
                        self.move_group(number);
                    }
                    Owner::Deletion(deletion) => self.delete(deletion),
                },
                Verdict::Deferred(claimant) => self.deferred(claimant),
                Verdict::Revoked(number) => {
                    self.give_up_claim(number);
                    let seconds = self.retry_seconds(number);
                    self.set_moving(number, Moving::BackfillWait);
                    self.try_later(number, Cause::Retry, seconds);
                }
            }
        }
    }

    fn retry_seconds(&self, number: u32) -> f64 {
        let primary = self.groups[number as usize].primary as u32;
        self.map.settings_of(primary).osd_backfill_retry_interval
    }

    /// A claim comes to a target: a backfill is promised space there, or refused.
    fn ask_target(&mut self, claimant: Claimant, osd: u32) {
        let number = claimant;
        self.wait(number, Some(Cause::Remote(osd)));
        if self.jobs[number as usize].kind() == ClaimKind::Backfill {
            self.sync_osd(osd);
            let group = &self.groups[number as usize];
            let logical = logical_piece_bytes(&group.contents, &self.protections[group.pool]);
            let objects = group.contents.objects;
            let position = self.jobs[number as usize].fill.iter().find(|&&(target, _)| target == osd);
            let piece = position.and_then(|&(_, position)| group.piece(osd, position));
            let local = piece.map_or(0, |piece| share(logical, objects - piece.lacking.min(objects), objects));
            if !self.fill.promise(self.now, osd, claimant, logical, local) {
                self.too_full(number, osd);
                return;
            }
            self.judge_osd(osd);
        }
        self.reservations.ask_next(claimant);
    }

    /// A target has no space: all is given up, and asked for again later.
    pub(super) fn too_full(&mut self, number: u32, osd: u32) {
        self.halt(number);
        self.jobs[number as usize].refused.get_or_insert(self.now);
        let seconds = self.retry_seconds(number);
        self.set_moving(number, Moving::BackfillToofull);
        self.try_later(number, Cause::Space(osd), seconds);
    }

    /// A claim that moved lost a slot: it stops, and asks again at once.
    fn deferred(&mut self, claimant: Claimant) {
        match Owner::of(claimant) {
            Owner::Group(number) => {
                if let Some(id) = self.jobs[number as usize].work.take() {
                    self.stop_work(id);
                }
                self.give_up_claim(number);
                self.claim(number);
            }
            Owner::Deletion(deletion) => {
                let work = self.deletions[deletion as usize].as_mut().and_then(|deletion| deletion.work.take());
                if let Some(id) = work {
                    self.stop_work(id);
                }
                self.ask_deletion(deletion);
            }
        }
    }

    fn try_later(&mut self, number: u32, cause: Cause, seconds: f64) {
        self.wait(number, Some(cause));
        let at = self.now + SimDuration::from_seconds(seconds).unwrap_or_default();
        self.jobs[number as usize].retry = Some(at);
        self.timers.insert((at, number));
    }

    /// Groups whose time to try again has come.
    pub(super) fn try_again(&mut self) {
        while let Some(&(at, number)) = self.timers.first().filter(|&&(at, _)| at <= self.now) {
            self.timers.remove(&(at, number));
            self.jobs[number as usize].retry = None;
            self.claim(number);
        }
    }

    /// From now on a group waits for this, or for nothing; what it waited for until now is put down.
    pub(super) fn wait(&mut self, number: u32, cause: Option<Cause>) {
        let before = std::mem::replace(&mut self.jobs[number as usize].waits, cause.map(|cause| (cause, self.now)));
        if let Some((cause, since)) = before {
            self.put_down(cause, since);
        }
    }

    fn put_down(&mut self, cause: Cause, since: SimTime) {
        let seconds = self.now.since(since).seconds();
        let (kind, name) = match cause {
            Cause::Local(osd) => ("reservation of a primary", format!("osd.{osd}")),
            Cause::Remote(osd) => ("reservation of a target", format!("osd.{osd}")),
            Cause::Space(osd) => ("space", format!("osd.{osd}")),
            Cause::Retry => ("retry interval", String::new()),
            Cause::Paused => ("flags", String::new()),
        };
        self.record.limited(kind, name, seconds);
    }

    /// What a group does, in Ceph's words, from now on.
    pub(super) fn set_moving(&mut self, number: u32, moving: Moving) {
        let job = &mut self.jobs[number as usize];
        if job.moving != moving {
            (job.moving, job.since) = (moving, self.now);
        }
        self.recount(number);
    }

    /// Counts again what a group lacks.
    pub(super) fn retally(&mut self, number: u32) {
        let group = &self.groups[number as usize];
        let (protection, barrier) = (&self.protections[group.pool], self.map.barrier(group.pool));
        let mut tally = Tally::of(group, protection, barrier, &|osd| self.answers(osd));
        tally.is_inactive |= group.acting.iter().any(|&osd| osd >= 0 && self.hung.contains(&(osd as u32)));
        if tally.is_inactive != group.tally.is_inactive {
            let served = self.served(number);
            let job = &mut self.jobs[number as usize];
            (job.served, job.turned) = (served, self.now);
        }
        self.groups[number as usize].tally = tally;
        self.note_lacking(number);
        self.recount(number);
    }

    /// How long a group has served until now.
    pub(super) fn served(&self, number: u32) -> SimDuration {
        let job = &self.jobs[number as usize];
        if self.groups[number as usize].tally.is_inactive {
            job.served
        } else {
            job.served + self.now.since(job.turned)
        }
    }

    /// Whether an OSD answers requests, as far as that is known: it is up in the map, and not dead there.
    pub(crate) fn answers(&self, osd: u32) -> bool {
        self.map.is_up(osd) && !self.hung.contains(&osd)
    }

    /// Brings the counts of all groups up to what this one is now.
    fn recount(&mut self, number: u32) {
        let group = &self.groups[number as usize];
        let job = &mut self.jobs[number as usize];
        let now = group.exists.then_some((group.tally, job.moving));
        let before = std::mem::replace(&mut job.counted, now);
        if before == now {
            return;
        }
        if let Some((tally, moving)) = now {
            self.counts.count(group.pool, &tally, moving, true);
        }
        if let Some((tally, moving)) = before {
            self.counts.cleaned += u64::from(!tally.is_clean() && now.is_some_and(|now| now.0.is_clean()));
            self.counts.count(group.pool, &tally, moving, false);
            self.counts.note(self.now, group.pool, &tally);
        }
    }

    /// Takes a group that is no more out of the counts.
    pub(super) fn count_out(&mut self, number: u32) {
        self.note_lacking(number);
        self.recount(number);
    }

    pub(super) fn give_up_deletion(&mut self, number: u32, osd: u32, position: u8) {
        let found = self.deletions.iter().position(|deletion| {
            deletion.is_some_and(|it| it.group == number && it.osd == osd && it.position == position)
        });
        match found {
            Some(deletion) => self.finish_deletion(deletion as u32),
            None => self.drop_piece(number, osd, position),
        }
    }
}
