//! The loop itself: what is due next, and whether anything is.

use resilver_units::SimTime;

use super::{HealError, Healing, history};
use crate::agents::Health;

impl Healing {
    /// Goes on to what is due next; tells whether there was anything.
    pub(super) fn step(&mut self) -> Result<bool, HealError> {
        self.settle();
        self.tell_clients();
        if self.now >= self.horizon || self.is_idle() {
            return Ok(false);
        }
        let due = self.due();
        let mut ended = std::mem::take(&mut self.ended);
        let mut plane = self.plane.next().filter(|&at| at <= due);
        // What happens within the plane changes nothing here until a work ends.
        loop {
            self.film_until(plane.unwrap_or(due));
            let Some(at) = plane else { break };
            self.now = at;
            self.plane.advance(at, &mut ended);
            if !ended.is_empty() {
                break;
            }
            plane = self.plane.next().filter(|&at| at <= due);
        }
        if plane.is_none() {
            self.now = due;
            self.plane.advance(due, &mut ended);
        }
        self.end_works(&ended);
        ended.clear();
        self.ended = ended;
        if plane.is_none() {
            self.others()?;
        }
        self.take_on();
        Ok(true)
    }

    /// When something is due next that is not the plane's.
    fn due(&self) -> SimTime {
        let steps = self.plan.get(self.next_step).map(|&(at, _)| at);
        let timers = self.timers.first().map(|&(at, _)| at);
        let others = steps.into_iter().chain(timers).chain(self.counted_from).chain([self.record.next(), self.horizon]);
        let due = others.min().unwrap_or(self.horizon);
        let health = self.counts.health();
        let looks = self.agents.iter().filter(|agent| !agent.waits(&health)).filter_map(|agent| agent.next());
        looks.chain([due]).min().unwrap_or(due).max(self.now)
    }

    /// What is due but for the plane's: tries again, changes of the plan, agents, a row of the timeline.
    fn others(&mut self) -> Result<(), HealError> {
        self.try_again();
        self.count_from_here();
        let mut changed = false;
        while let Some((_, step)) = self.plan.get(self.next_step).filter(|&&(at, _)| at <= self.now) {
            let change = step.change.clone();
            self.next_step += 1;
            changed |= self.make(&change)?;
        }
        let is_planned = changed;
        if changed {
            // Who was turned off at this moment looks no more.
            self.agents_see();
        }
        for at in 0..self.agents.len() {
            let looks = self.agents[at].next().is_some_and(|next| next <= self.now);
            if looks && !self.agents[at].waits(&self.health()) {
                changed |= self.act(at);
            }
        }
        if changed {
            self.digest.fold_pair(self.now.picoseconds(), self.map.epoch());
            self.agents_see();
            self.settle();
        }
        // What the plan changes shows at once; agents may change something every other second. What one of them answers at the same time
        // to what another changed belongs to the same row.
        if is_planned || (self.record.next() <= self.now && !self.has_answer()) {
            self.sample();
        }
        Ok(())
    }

    /// Whether an agent is about to act at this very time.
    fn has_answer(&self) -> bool {
        let health = self.counts.health();
        self.agents.iter().any(|agent| agent.next().is_some_and(|next| next <= self.now) && !agent.waits(&health))
    }

    fn agents_see(&mut self) {
        for agent in &mut self.agents {
            agent.saw(self.now, &self.map);
        }
    }

    /// Lets an agent look, and makes what it changes; tells whether that is anything.
    fn act(&mut self, agent: usize) -> bool {
        self.sync_all();
        let health = self.health();
        let changes = self.agents[agent].act(self.now, &self.map, &health);
        for change in &changes {
            self.make_by_itself(change);
        }
        if let Some(what) = history::upmaps_of(&changes) {
            self.record.tell(self.now, what, self.map.epoch());
        }
        !changes.is_empty()
    }

    fn health(&self) -> Health {
        let mut health = self.counts.health();
        for (place, pool) in health.pools.iter_mut().enumerate() {
            pool.mergeable = self.is_mergeable(place);
        }
        health
    }

    fn is_mergeable(&self, place: usize) -> bool {
        let pool = &self.map.pools()[place];
        let last = pool.pool.pg_num.saturating_sub(1);
        if pool.pg_num_target >= pool.pool.pg_num || last == 0 {
            return false;
        }
        let of = |number| self.table.get(place, number).map(|number| &self.groups[number as usize]);
        match (of(last), of(crate::map::parent_of(last, last))) {
            (Some(last), Some(parent)) => {
                last.tally.is_clean() && parent.tally.is_clean() && last.acting == parent.acting
            }
            _ => false,
        }
    }

    /// Whether nothing can happen any more: nothing moves, the plan is done, and whoever looks by itself has looked twice in vain.
    fn is_idle(&self) -> bool {
        if self.under_way > 0 || self.next_step < self.plan.len() || self.counted_from.is_some() {
            return false;
        }
        let health = self.health();
        let looks = self.agents.iter().any(|agent| agent.next().is_some() && !agent.waits(&health));
        if !looks && self.timers.is_empty() {
            return true;
        }
        let settings = &self.map.settings;
        let retry = self.timers.last().map_or(0.0, |&(at, _)| at.since(self.now).seconds());
        let looking = if looks {
            settings.osd_heartbeat_grace
                + settings.mon_osd_down_out_interval
                + settings.mgr_tick_period
                + settings.balancer_sleep_interval
        } else {
            0.0
        };
        self.now.since(self.changed_at).seconds() > 2.0 * (looking + retry.max(30.0))
    }
}
