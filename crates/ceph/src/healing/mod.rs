//! The loop: changes of the plan, agents, reservations, and what moves the data.

mod changing;
mod clients;
mod counting;
mod counts;
mod deleting;
mod film;
mod history;
mod holding;
mod job;
mod lacking;
mod laws;
mod moving;
mod peering;
mod record;
mod room;
mod running;
mod watching;

pub(crate) use film::Film;
pub(crate) use job::{Cause, Job};
pub(crate) use lacking::Spell;
pub(crate) use record::{Record, Sample, Served};
pub(crate) use room::{Room, SafeFill};

use std::collections::{BTreeMap, BTreeSet};

use resilver_kernel::Digest;
use resilver_units::{ErrorClass, SimTime};

use crate::agents::{Agent, Balancer, Manager, Monitor, SiteWatch};
use crate::error::CephError;
use crate::fill::Fill;
use crate::groups::{Group, GroupTable, Protection, start_groups};
use crate::input::{ClusterInput, Step};
use crate::map::OsdMap;
use crate::plane::{DataPlane, EventPlane, FlowPlane, WorkId};
use crate::reserve::{Claimant, Reservations};
use clients::Clients;
use counts::Counts;
use holding::first_holders;
use job::{Deletion, Running};
use lacking::Lacking;

/// Why a run cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HealError {
    /// The cluster, or a change of the plan, cannot be.
    #[error(transparent)]
    Cluster(#[from] CephError),
    /// A time of the plan or the horizon cannot be.
    #[error("{field} = {value} s: a time is a number from 0 s to 213 days; correct it")]
    Time {
        /// Which.
        field: String,
        /// The value.
        value: String,
    },
    /// A law of conservation was broken: a defect of this program.
    #[error("{0}: this is a defect of resilver, please report it with the input")]
    Law(String),
}

impl HealError {
    /// What it is about.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            HealError::Cluster(CephError::Crush { .. }) => ErrorClass::Placement,
            HealError::Cluster(CephError::Invalid(_)) | HealError::Time { .. } => ErrorClass::Config,
            HealError::Law(_) => ErrorClass::Simulation,
        }
    }
}

/// A cluster that heals.
pub struct Healing {
    pub(crate) map: OsdMap,
    pub(crate) groups: Vec<Group>,
    pub(crate) table: GroupTable,
    pub(crate) protections: Vec<Protection>,
    pub(crate) fill: Fill,
    pub(crate) jobs: Vec<Job>,
    pub(crate) counts: Counts,
    pub(crate) record: Record,
    pub(crate) film: Option<Film>,
    lacking: Lacking,
    /// Who had each group at the start.
    pub(crate) first_holders: Vec<Vec<(u32, u8)>>,
    /// (child, parent) of groups that were merged, in order.
    pub(crate) merged: Vec<(u32, u32)>,
    /// How many groups there were at the start.
    pub(crate) first_groups: usize,
    /// The map at the start.
    pub(crate) first_map: OsdMap,
    /// What fitted at the start.
    pub(crate) first_room: Room,
    /// The level of which any part is to be able to fail, where it is asked how full the cluster may be for that.
    safe_level: String,
    pub(crate) lists_sets: bool,
    /// Where groups are at the start that are not in their up set, by pool and number, where sets are listed.
    pub(crate) first_acting: BTreeMap<(usize, u32), Vec<i32>>,
    pub(crate) plane: Box<dyn DataPlane + Send + Sync>,
    reservations: Reservations,
    agents: Vec<Box<dyn Agent + Send + Sync>>,
    plan: Vec<(SimTime, Step)>,
    next_step: usize,
    works: Vec<Option<Running>>,
    free_works: Vec<WorkId>,
    under_way: usize,
    /// The works that write to each OSD or delete from it.
    works_on: Vec<Vec<WorkId>>,
    deletions: Vec<Option<Deletion>>,
    timers: BTreeSet<(SimTime, Claimant)>,
    /// Groups that an OSD does not take on.
    withheld: BTreeSet<u32>,
    /// Whether an OSD may take on more than before.
    has_room: bool,
    /// OSDs that a change of the plan had die, and when.
    died: BTreeMap<u32, SimTime>,
    was_up: Vec<bool>,
    /// OSDs that are dead and stay up in the map.
    pub(crate) hung: BTreeSet<u32>,
    full: Vec<bool>,
    clients: Clients,
    horizon: SimTime,
    /// When the run begins to be counted; none once it is.
    counted_from: Option<SimTime>,
    pub(crate) now: SimTime,
    changed_at: SimTime,
    digest: Digest,
    is_done: bool,
    ended: Vec<WorkId>,
}

fn time_of(field: impl Into<String>, seconds: f64) -> Result<SimTime, HealError> {
    SimTime::try_from(seconds).map_err(|_| HealError::Time { field: field.into(), value: seconds.to_string() })
}

impl Healing {
    /// A cluster and its plan, before the first change.
    ///
    /// # Arguments
    /// * `input` - what comes across the border.
    /// * `plane` - what moves the data; it has no OSDs yet.
    /// * `agents` - who changes the map by itself, in the order in which they look.
    ///
    /// # Errors
    /// The map cannot be made, or a time cannot be.
    pub fn new(
        input: &ClusterInput,
        plane: Box<dyn DataPlane + Send + Sync>,
        agents: Vec<Box<dyn Agent + Send + Sync>>,
    ) -> Result<Self, HealError> {
        let map = OsdMap::new(input)?;
        let (groups, table) = start_groups(input, &map);
        let protections: Vec<Protection> = map.pools().iter().map(Protection::of).collect();
        let plan = input
            .plan
            .iter()
            .enumerate()
            .map(|(at, step)| Ok((time_of(format!("plan[{at}].at_seconds"), step.at_seconds)?, step.clone())));
        let mut plan = plan.collect::<Result<Vec<_>, HealError>>()?;
        plan.sort_by_key(|&(at, _)| at);
        let jobs = vec![Job::default(); groups.len()];
        let remapped = groups.iter().filter(|group| input.lists_sets && group.acting != group.up);
        let first_acting = remapped.map(|group| ((group.pool, group.number), group.acting.clone())).collect();
        let pools = protections.len();
        let counts = Counts::new(pools);
        let mut healing = Healing {
            first_map: map.clone(),
            first_room: Room::default(),
            safe_level: input.safe_level.clone(),
            lists_sets: input.lists_sets,
            first_acting,
            first_groups: groups.len(),
            first_holders: groups.iter().map(first_holders).collect(),
            merged: Vec::new(),
            fill: Fill::new(input.ratios),
            clients: Clients::new(&input.load, &protections),
            record: Record::new(pools),
            film: film::film_of(input.frames),
            lacking: Lacking::default(),
            reservations: Reservations::new(),
            horizon: time_of("horizon_seconds", input.horizon_seconds)?,
            counted_from: Some(time_of("counted_from_seconds", input.counted_from_seconds)?)
                .filter(|&at| at > SimTime::ZERO),
            map,
            groups,
            table,
            protections,
            jobs,
            counts,
            plane,
            agents,
            plan,
            next_step: 0,
            works: Vec::new(),
            free_works: Vec::new(),
            under_way: 0,
            works_on: Vec::new(),
            deletions: Vec::new(),
            timers: BTreeSet::new(),
            withheld: BTreeSet::new(),
            has_room: false,
            died: BTreeMap::new(),
            was_up: Vec::new(),
            hung: BTreeSet::new(),
            full: Vec::new(),
            now: SimTime::ZERO,
            changed_at: SimTime::ZERO,
            digest: Digest::new(),
            is_done: false,
            ended: Vec::new(),
        };
        healing.begin();
        Ok(healing)
    }

    /// The same, with the plane that the input asks for, and with the agents that a cluster has: monitors, manager, balancer.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of(input: &ClusterInput) -> Result<Self, HealError> {
        let plane: Box<dyn DataPlane + Send + Sync> = if input.events {
            Box::new(EventPlane::new(input.network, input.seed))
        } else {
            Box::new(FlowPlane::new(input.network))
        };
        let agents: Vec<Box<dyn Agent + Send + Sync>> = vec![
            Box::new(Monitor::new()),
            Box::new(SiteWatch::default()),
            Box::new(Manager::new()),
            Box::new(Balancer::new(input.seed)),
        ];
        Healing::new(input, plane, agents)
    }

    fn begin(&mut self) {
        let osds: Vec<u32> = self.map.osds().map(|osd| osd.id).collect();
        for &osd in &osds {
            self.set_up_osd(osd);
        }
        for number in 0..self.groups.len() as u32 {
            self.hold(number);
            self.retally(number);
        }
        for &osd in &osds {
            let used = self.map.osds.get(osd as usize).and_then(Option::as_ref).and_then(|osd| osd.used_bytes);
            self.fill.begin(self.now, osd, used);
        }
        self.first_room = self.room_at_start();
        self.counts.measure(&self.groups, &self.protections);
        self.clients.measure(&self.groups);
        for number in 0..self.groups.len() as u32 {
            self.clients.serve(number, &self.groups[number as usize]);
        }
        for &osd in &osds {
            self.judge_osd(osd);
        }
        self.tell_clients();
        self.sample();
        for number in 0..self.groups.len() as u32 {
            self.peer(number);
        }
        for agent in &mut self.agents {
            agent.saw(self.now, &self.map);
        }
    }

    /// Runs on for so many steps of the loop.
    ///
    /// # Returns
    /// Whether there is more to come.
    ///
    /// # Errors
    /// A change of the plan cannot be made, or a law is broken.
    pub fn advance(&mut self, steps: usize) -> Result<bool, HealError> {
        for _ in 0..steps {
            if self.is_done {
                break;
            }
            if !self.step()? {
                self.is_done = true;
                self.sample();
                self.take_frame(self.now);
                self.check()?;
            }
        }
        Ok(!self.is_done)
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// As [`advance`](Self::advance).
    pub fn run(&mut self) -> Result<(), HealError> {
        while self.advance(1 << 16)? {}
        Ok(())
    }

    /// Simulated time.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// (groups that are not clean, groups in all).
    #[must_use]
    pub fn unclean(&self) -> (u64, u64) {
        self.counts.pools.iter().fold((0, 0), |sum, pool| (sum.0 + pool.unclean, sum.1 + pool.groups))
    }

    /// How much of the work that is known is done, from 0 to 1: groups that came to be clean, of them and of those that move, wait
    /// for it, or will be moved by an agent. It falls where more becomes known.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        let totals = &self.counts.totals;
        let agents: u64 = self.agents.iter().map(|agent| agent.to_move()).sum();
        let left = totals.backfilling + totals.recovering + totals.waiting + agents;
        self.counts.cleaned as f64 / (self.counts.cleaned + left).max(1) as f64
    }

    /// What the run took to compute so far, as [`DataPlane::effort`] counts it.
    #[must_use]
    pub fn effort(&self) -> u64 {
        self.plane.effort()
    }

    /// The digest of all that happened.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// OSDs that died, or that were stopped and did not start again: what they had is taken for gone unless they were stopped in order.
    pub(crate) fn dead(&self) -> BTreeSet<u32> {
        self.died.keys().copied().filter(|&osd| !self.map.runs(osd)).collect()
    }

    /// The name of the bucket just above an OSD; empty where there is none.
    pub(crate) fn host_of(&self, osd: u32) -> String {
        let crush = self.map.crush();
        crush.ancestor(osd as i32, "host").map_or_else(String::new, |host| crush.item_name(host))
    }

    /// An OSD that the map has is set up everywhere.
    fn set_up_osd(&mut self, osd: u32) {
        let length = osd as usize + 1;
        if self.works_on.len() < length {
            self.works_on.resize(length, Vec::new());
            self.was_up.resize(length, false);
            self.full.resize(length, false);
        }
        self.was_up[osd as usize] = self.map.is_up(osd);
        if let Some(osd) = self.map.osds.get(osd as usize).and_then(Option::as_ref) {
            self.fill.add_osd(osd);
        }
        self.tell_settings(osd);
    }

    /// An OSD is added to the cluster.
    fn add_osd(&mut self, osd: u32) {
        self.set_up_osd(osd);
        let used = self.map.osds.get(osd as usize).and_then(Option::as_ref).and_then(|osd| osd.used_bytes);
        self.fill.begin(self.now, osd, used);
    }

    /// Tells everyone what an OSD goes by.
    fn tell_settings(&mut self, osd: u32) {
        let settings = self.map.settings_of(osd);
        self.reservations.set_osd(osd, settings.osd_max_backfills, settings.osd_min_recovery_priority);
        self.tell_plane(osd);
    }

    /// Tells the plane how an OSD works.
    fn tell_plane(&mut self, osd: u32) {
        if let Some(input) = self.map.at_work(osd) {
            self.plane.set_osd(self.now, &input, self.map.settings_of(osd));
        }
    }
}
