//! Data moved by flows: rates that are constant between two changes of what moves.

mod ahead;
mod chains;
mod clients;
mod dirty;
mod ends;
mod path;
mod stations;

use std::collections::BTreeMap;

use resilver_units::{SimDuration, SimTime};

use super::{ClientLoad, ClientState, DataPlane, Limit, Progress, Work, WorkId, WorkKind};
use crate::input::{NetworkInput, OsdInput};
use crate::settings::OsdSettings;

use chains::{Chain, Chains, Way, along};
use clients::Open;
use ends::Ends;
use path::{Use, objects_a_unit, path, uses};
use stations::{Kind, Stations};

/// A work under way.
#[derive(Debug)]
struct WorkFlow {
    work: Work,
    chain: u32,
    /// Objects that count once: a transaction's, else one.
    unit: f64,
    /// What a unit takes of which devices.
    uses: Vec<Use>,
    /// Units done at `since`, and units a second from then on.
    done: f64,
    rate: f64,
    since: SimTime,
    /// Until when its first objects are on their way and none is there.
    filled: SimTime,
}

/// Moves data by flows.
#[derive(Debug)]
pub struct FlowPlane {
    stations: Stations,
    chains: Chains,
    /// The chain of each primary, and chains that no work has.
    by_primary: BTreeMap<u32, u32>,
    free: Vec<u32>,
    works: BTreeMap<WorkId, WorkFlow>,
    /// What clients ask, by OSD.
    clients: BTreeMap<u32, Open>,
    /// What each OSD's device did for works.
    used: Vec<Use>,
    ends: Ends,
    now: SimTime,
    /// Until when all works are counted.
    counted: SimTime,
    /// Whether something has changed since rates were found last.
    pending: bool,
    /// When rates that have not settled are looked at again, and how long after that the next time.
    again: Option<SimTime>,
    patience: SimDuration,
}

/// How long after a change rates that have not settled are looked at again; each further time takes twice as long.
const PATIENCE: SimDuration = SimDuration::from_picoseconds(1_000_000_000_000);
/// The longest that an unsettled rate stands.
const MOST_PATIENCE: SimDuration = SimDuration::from_picoseconds(600_000_000_000_000);

impl FlowPlane {
    /// A plane over hosts with such ports.
    pub fn new(network: NetworkInput) -> Self {
        FlowPlane {
            stations: Stations::new(network),
            chains: Chains::default(),
            by_primary: BTreeMap::new(),
            free: Vec::new(),
            works: BTreeMap::new(),
            clients: BTreeMap::new(),
            used: Vec::new(),
            ends: Ends::default(),
            now: SimTime::ZERO,
            counted: SimTime::ZERO,
            pending: false,
            again: None,
            patience: PATIENCE,
        }
    }

    /// Something has changed.
    fn change(&mut self) {
        self.pending = true;
        self.patience = PATIENCE;
    }

    /// Finds the rates that the last changes gave, and the ends that follow.
    fn solve(&mut self) {
        if !std::mem::take(&mut self.pending) {
            return;
        }
        let busy = (self.chains.all.len() - self.free.len()) as u64;
        self.chains.solve(&mut self.stations, &self.clients, busy);
        // A solution that was cut short must not stand until the next change, which may be days away.
        self.again = (!self.chains.is_settled(&self.stations)).then(|| self.now + self.patience);
        self.patience = (self.patience + self.patience).min(MOST_PATIENCE);
        let mut changed = std::mem::take(&mut self.chains.changed);
        for chain in changed.drain(..) {
            self.chains.all[chain as usize].changed = false;
            for Way { id, rate, .. } in &self.chains.all[chain as usize].ways {
                let work = self.works.get_mut(id).expect("a path is that of a work under way");
                work.go_to(self.now, &mut self.used);
                work.rate = *rate;
                self.ends.set(*id, work.end());
            }
        }
        self.chains.changed = changed;
    }

    /// Goes on to a later time; changes of one time are solved together.
    fn solve_at(&mut self, now: SimTime) {
        if now > self.now {
            self.solve();
            self.now = now;
        }
    }

    /// When the next work ends, at the rates that were found last.
    fn next_end(&self) -> Option<SimTime> {
        self.ends.first().map(|(end, _)| end.max(self.now))
    }

    /// The chain of a work: its primary's, or its own if it deletes.
    fn chain_of(&mut self, work: &Work) -> u32 {
        let deletes = work.kind == WorkKind::Delete;
        let window = if deletes { 1 } else { self.stations.osd(work.primary).settings.osd_recovery_max_active.max(1) };
        let window = f64::from(window);
        if let Some(chain) = self.by_primary.get(&work.primary)
            && !deletes
        {
            // The settings may have changed since it was made.
            self.chains.all[*chain as usize].window = window;
            return *chain;
        }
        let new = Chain {
            window,
            ways: Vec::new(),
            stations: 0,
            shares: false,
            rate: 0.0,
            round: 0.0,
            dirty: false,
            late: false,
            changed: false,
        };
        let chain = if let Some(chain) = self.free.pop() {
            let old = &mut self.chains.all[chain as usize];
            *old = Chain { dirty: old.dirty, late: old.late, changed: old.changed, ..new };
            chain
        } else {
            self.chains.all.push(new);
            self.chains.all.len() as u32 - 1
        };
        if !deletes {
            self.by_primary.insert(work.primary, chain);
        }
        chain
    }

    /// Puts a work into the network.
    fn insert(&mut self, id: WorkId, mut flow: WorkFlow) {
        let path = path(&mut self.stations, &flow.work);
        flow.chain = self.chain_of(&flow.work);
        for visit in &path {
            self.stations.visited(visit, flow.chain, true);
        }
        self.chains.insert(&self.stations, flow.chain, id, path);
        self.change();
        self.works.insert(id, flow);
    }

    /// Takes a work out of the network.
    fn remove(&mut self, id: WorkId) -> Option<WorkFlow> {
        let work = self.works.remove(&id)?;
        self.ends.remove(id);
        let mut path = self.chains.remove(&self.stations, work.chain, id);
        self.change();
        for visit in &mut path {
            self.stations.put(visit, path::Put::default());
            self.stations.visited(visit, work.chain, false);
            self.stations.touch(visit.station);
        }
        if self.chains.all[work.chain as usize].ways.is_empty() {
            if work.work.kind != WorkKind::Delete {
                self.by_primary.remove(&work.work.primary);
            }
            self.free.push(work.chain);
        }
        Some(work)
    }
}

impl WorkFlow {
    /// Units in all.
    fn units(&self) -> f64 {
        (self.work.objects as f64 / self.unit).ceil()
    }

    /// Counts what was done by a time.
    fn go_to(&mut self, now: SimTime, used: &mut Vec<Use>) {
        let done = self.units_until(now);
        self.done += done;
        self.since = now;
        for one in &self.uses {
            let index = one.osd as usize;
            if index >= used.len() {
                used.resize(index + 1, Use::default());
            }
            used[index].add(one, done);
        }
    }

    /// When all will be done.
    fn end(&self) -> SimTime {
        let left = (self.units() - self.done).max(0.0);
        let seconds = left / self.rate.max(1e-30);
        let span = SimDuration::from_seconds(seconds).unwrap_or(SimDuration::from_picoseconds(u64::MAX));
        self.since.max(self.filled) + span
    }

    fn progress(&self) -> Progress {
        self.progress_of(self.done)
    }
}

impl DataPlane for FlowPlane {
    fn set_osd(&mut self, now: SimTime, osd: &OsdInput, settings: &OsdSettings) {
        self.solve_at(now);
        self.stations.set(osd, settings);
        // The paths of works of a changed OSD are made anew.
        let ids: Vec<WorkId> = (self.works.iter())
            .filter(|(_, flow)| {
                let work = &flow.work;
                work.primary == osd.id || work.targets.contains(&osd.id) || work.sources.contains(&osd.id)
            })
            .map(|(id, _)| *id)
            .collect();
        for id in ids {
            let mut flow = self.remove(id).expect("a work under way");
            flow.go_to(now, &mut self.used);
            flow.uses = uses(&self.stations, &flow.work);
            self.insert(id, flow);
        }
        if let Some(open) = self.clients.get(&osd.id) {
            let open = self.stations.open(osd.id, &open.asked);
            self.clients.insert(osd.id, open);
        }
        self.change();
    }

    fn set_clients(&mut self, now: SimTime, osd: u32, load: ClientLoad) {
        self.solve_at(now);
        let open = self.stations.open(osd, &load);
        let device = self.stations.of(Kind::Device { osd });
        if open.requests > 0.0 {
            self.clients.insert(osd, open);
        } else {
            self.clients.remove(&osd);
            let own: Vec<u32> = self.stations.of_osd(osd).collect();
            own.into_iter().for_each(|station| self.stations.all[station as usize].open = path::Put::default());
        }
        self.stations.touch(device);
        self.change();
    }

    fn start(&mut self, now: SimTime, id: WorkId, work: Work) {
        self.solve_at(now);
        let unit = objects_a_unit(&work, &self.stations) as f64;
        let uses = uses(&self.stations, &work);
        let flow = WorkFlow { work, chain: 0, unit, uses, done: 0.0, rate: 0.0, since: now, filled: now };
        self.insert(id, flow);
        let flow = &self.works[&id];
        let chain = &self.chains.all[flow.chain as usize];
        // The first object needs its whole way, while the flow delivers from the start. Of objects that begin together, half a window is
        // there before a steady stream would have it.
        let path = &chain.ways.last().expect("its path was just added").path;
        let way = along(path, |visit| if visit.passes { visit.seconds } else { 0.0 });
        let delay = way * (chain.window - 1.0) / (2.0 * chain.window);
        let filled = now + SimDuration::from_seconds(delay).unwrap_or(SimDuration::ZERO);
        self.works.get_mut(&id).expect("it was just added").filled = filled;
    }

    fn stop(&mut self, now: SimTime, id: WorkId) -> Progress {
        self.solve_at(now);
        let Some(mut flow) = self.remove(id) else {
            return Progress::default();
        };
        flow.go_to(now, &mut self.used);
        flow.progress()
    }

    fn progress(&mut self, now: SimTime, id: WorkId) -> Progress {
        self.solve();
        self.now = now;
        let Some(flow) = self.works.get_mut(&id) else {
            return Progress::default();
        };
        flow.go_to(now, &mut self.used);
        flow.progress()
    }

    fn done_at(&self, id: WorkId, at: SimTime) -> Progress {
        self.works.get(&id).map_or_else(Progress::default, |flow| flow.progress_of(flow.done + flow.units_until(at)))
    }

    fn next(&mut self) -> Option<SimTime> {
        self.solve();
        let end = self.next_end();
        // Without a work there is nothing to settle for.
        end.map(|end| self.again.map_or(end, |again| end.min(again)))
    }

    fn advance(&mut self, to: SimTime, ended: &mut Vec<WorkId>) {
        loop {
            self.solve();
            let end = self.next_end().filter(|end| *end <= to);
            if let Some(again) = self.again
                && again <= to
                && end.is_none_or(|end| again < end)
            {
                self.now = again.max(self.now);
                self.again = None;
                self.pending = true;
                continue;
            }
            let Some((end, id)) = self.ends.first().filter(|_| end.is_some()) else {
                break;
            };
            self.now = end.max(self.now);
            if let Some(mut flow) = self.remove(id) {
                flow.go_to(self.now, &mut self.used);
            }
            ended.push(id);
        }
        self.now = to;
    }

    fn clients(&mut self, now: SimTime, osd: u32) -> ClientState {
        self.solve();
        self.now = now;
        let device = self.stations.of(Kind::Device { osd });
        let open = self.clients.get(&osd).copied().unwrap_or_default();
        self.stations.clients(osd, device, &open)
    }

    fn used(&mut self, now: SimTime, osd: u32) -> (u64, u64, f64) {
        self.solve();
        self.now = now;
        // Asked of one OSD after the other, the works are counted once.
        if std::mem::replace(&mut self.counted, now) < now {
            self.works.values_mut().for_each(|flow| flow.go_to(now, &mut self.used));
        }
        let used = self.used.get(osd as usize).copied().unwrap_or_default();
        (used.read_bytes.round() as u64, used.written_bytes.round() as u64, used.seconds)
    }

    fn effort(&self) -> u64 {
        self.chains.visits
    }

    fn limit(&mut self, id: WorkId) -> Option<Limit> {
        self.solve();
        let flow = self.works.get(&id)?;
        let chain = &self.chains.all[flow.chain as usize];
        let way = chain.ways.iter().find(|way| way.id == id)?;
        Some(self.stations.limit(&flow.work, &way.path, way.held))
    }
}

#[cfg(test)]
mod tests;
