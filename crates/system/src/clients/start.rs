//! How a workload is made, and what begins by itself.

use std::sync::Arc;

use resilver_fabric::Fabric;
use resilver_population::Extent;
use resilver_redundancy::Code;
use resilver_units::{Bytes, BytesPerSecond, DeviceId, SimDuration, SimTime};

use super::bursts::series_of;
use super::liveness::Liveness;
use super::measures::PieceCounts;
use super::measures::operations::OperationMeasures;
use super::objects::Objects;
use super::operations::plan::Plan;
use super::operations::table::Operations;
use super::operations::tokens::WorkloadEvent;
use super::requesters::Requests;
use super::sources::{Sources, groups_of, sources_of, strips_of};
use super::streams::{ENDLESS, Source};
use super::{Group, Workload};
use crate::SystemError;
use crate::plant::Site;
use crate::scenario::{Corruption, FlowLaw, PoolCodes, StoredPool, StreamTraffic, StripesOf, SystemConfig, Traffic};

/// The shortest pause after a loss: a source that no link leads away from would try for ever at one time without one.
const SHORTEST_PAUSE: SimDuration = SimDuration::from_picoseconds(1_000_000_000);

/// The codes of what is stored, and which of them each pool has; then those of the corruptions.
///
/// # Errors
/// When a code cannot be built, or is not the placement's.
fn plans_of(config: &SystemConfig, is_stored: bool) -> Result<(Vec<Plan>, Vec<u8>), SystemError> {
    let PoolCodes { distinct, of_pool } = config.pool_codes(is_stored)?;
    let own: Vec<(Arc<Code>, Option<BytesPerSecond>)> =
        distinct.into_iter().map(|pool| (pool.code, pool.coding)).collect();
    let other = |corruption: &Corruption| (corruption.code.clone().unwrap_or_else(|| own[0].0.clone()), own[0].1);
    let others: Vec<_> = config.corruptions.iter().map(other).collect();
    Ok((own.into_iter().chain(others).map(|(code, coding)| Plan::new(code, coding)).collect(), of_pool))
}

/// The most pieces that an object has.
fn stride_of(plans: &[Plan]) -> usize {
    plans.iter().map(|plan| plan.code.pieces()).max().unwrap_or(1) as usize
}

impl Workload {
    /// A workload of nothing yet, on a system of `devices` devices.
    fn on(devices: usize, plans: Vec<Plan>, groups: Vec<Group>, classes: &[usize]) -> Self {
        let pieces = stride_of(&plans);
        Workload {
            operations: Operations::new(pieces),
            measures: OperationMeasures::new(devices, groups.len(), classes),
            plans,
            coders: vec![SimTime::ZERO; devices],
            liveness: Liveness::new(devices),
            control: Bytes::ZERO,
            pieces_asked: 0,
            drawn: Vec::with_capacity(pieces),
            gathered: Vec::with_capacity(pieces),
            is_out: vec![false; devices],
            share_rebuilt: 0.0,
            objects: Arc::new(Objects::none()),
            requests: None,
            turns: 0,
            streams: None,
            corruptions: Vec::new(),
            strip: Bytes::ZERO,
            pause: SHORTEST_PAUSE,
            groups,
            sources: Vec::new(),
            corruption_sources: Vec::new(),
            drain: None,
            series: Vec::new(),
            strips_left: 0,
            corrupted_at: None,
            rebuilt_at: None,
            warm_up: SimDuration::ZERO,
            duration: None,
            is_time_over: true,
            problem: None,
        }
    }

    /// The same workload, of which statistics begin after `warm_up` and last for `duration`, where that is given.
    fn lasting(self, warm_up: SimDuration, duration: Option<SimDuration>) -> Self {
        Workload { warm_up, duration, is_time_over: duration.is_none(), ..self }
    }

    /// The same workload on objects, where there are some.
    fn over(mut self, objects: Objects) -> Self {
        self.measures.clients.pieces = Some(PieceCounts::default());
        Workload { objects: Arc::new(objects), ..self }
    }

    /// Requests to servers of `devices` devices, each to a piece of its own; `has_rebuild` says whether there is a rebuild that
    /// the run may last for.
    ///
    /// # Errors
    /// When the traffic is not one that can be drawn.
    pub fn of_requests(seed: u64, traffic: Traffic, devices: usize, has_rebuild: bool) -> Result<Self, SystemError> {
        traffic.check(devices, has_rebuild)?;
        let servers = traffic.servers.clone();
        let workload = Workload::on(devices, vec![Plan::single()], Vec::new(), &[traffic.classes.len()]);
        Ok(workload.requesting(seed, vec![(traffic, servers)]))
    }

    fn requesting(self, seed: u64, traffics: Vec<(Traffic, Vec<DeviceId>)>) -> Self {
        let Traffic { control, warm_up, duration, .. } = traffics[0].0;
        let mut requests = Requests::default();
        let of_law = |(traffic, _): &(Traffic, _)| traffic.stripes_asked();
        // An operation has the server of its directory for its first piece, and one of each stripe.
        let (plans, operations) = match traffics.iter().filter_map(of_law).max() {
            None => (self.plans, self.operations),
            Some(stripes) => {
                let operations = Operations::new(stride_of(&self.plans).max(1 + usize::from(stripes)));
                (self.plans.into_iter().chain([Plan::single()]).collect(), operations)
            }
        };
        traffics.into_iter().for_each(|(traffic, servers)| requests.add(seed, traffic, &servers));
        let workload = Workload { control, plans, operations, requests: Some(requests), ..self };
        workload.lasting(warm_up, duration)
    }

    /// What is asked of a system of which each server has so many ports, where anything is.
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub(crate) fn of(config: &SystemConfig, sides: u32) -> Result<Option<Self>, SystemError> {
        match (&config.traffic[..], &config.streams) {
            ([], None) if config.corruptions.is_empty() => Ok(None),
            ([_, ..], None) if config.corruptions.is_empty() => Self::of_clients(config).map(Some),
            ([], Some(traffic)) => Self::of_streams(config, traffic.clone(), sides).map(Some),
            ([_, ..], Some(_)) => {
                let (value, rule) = ("given".into(), "clients issue requests or stream, not both: leave one out");
                Err(SystemError::Traffic { field: "streams", value, rule })
            }
            _ => {
                let (value, rule) =
                    ("given".into(), "groups rebuild in place beside streams over groups: give streams");
                Err(SystemError::Traffic { field: "faults.corrupt", value, rule })
            }
        }
    }

    /// Requests: on the objects that the system stores, where it stores any.
    fn of_clients(config: &SystemConfig) -> Result<Self, SystemError> {
        let (devices, has_rebuild) = (config.endpoint_of.len(), !config.failing().is_empty());
        config.traffic.iter().try_for_each(|traffic| traffic.check(devices, has_rebuild))?;
        let classes: Vec<usize> = config.traffic.iter().map(|traffic| traffic.classes.len()).collect();
        let is_empty = |pool: &StoredPool| matches!(pool.contents.extent, Extent::Files(0));
        if !config.pools.iter().all(is_empty) {
            let (plans, of_pool) = plans_of(config, true)?;
            let mut asked: Vec<Option<usize>> = config.traffic.iter().map(|traffic| traffic.pool).collect();
            // Flows of whole objects come last, and ask for the same ones.
            let of_objects = |traffic: &Traffic| traffic.flow_law().is_some_and(FlowLaw::is_of_objects);
            let samples = config.traffic.iter().position(of_objects).map_or(asked.len(), |first| first + 1);
            asked.truncate(samples);
            let objects = Objects::sample(config, &asked, stride_of(&plans), &of_pool)?;
            let of_law = |law: usize| objects.primaries(law.min(samples - 1));
            let primaries: Vec<Vec<DeviceId>> = (0..config.traffic.len()).map(of_law).collect();
            if primaries.iter().all(|servers| !servers.is_empty()) {
                let stored = Workload::on(devices, plans, Vec::new(), &classes).over(objects);
                return Ok(stored.requesting(config.seed, config.traffic.iter().cloned().zip(primaries).collect()));
            }
        }
        let alone = |traffic: &Traffic| (traffic.clone(), traffic.servers.clone());
        let workload = Workload::on(devices, vec![Plan::single()], Vec::new(), &classes);
        Ok(workload.requesting(config.seed, config.traffic.iter().map(alone).collect()))
    }

    fn of_streams(config: &SystemConfig, traffic: StreamTraffic, sides: u32) -> Result<Self, SystemError> {
        let devices = config.endpoint_of.len();
        let code = config.pools[0].code.as_ref();
        traffic.check((devices, !config.failing().is_empty()), code, &config.corruptions)?;
        let (plans, of_pool) = plans_of(config, matches!(traffic.over, StripesOf::Placement))?;
        let strip = code.and_then(|coded| coded.strip).unwrap_or(Bytes::ZERO);
        let (objects, data) = match &traffic.over {
            StripesOf::Groups(_) => (Objects::none(), strip.get() * u64::from(plans[0].code.data())),
            StripesOf::Placement => {
                let objects = Objects::sample(config, &[None], stride_of(&plans), &of_pool)?;
                if objects.len() == 0 {
                    let rule = "a population with data is what they read and write";
                    return Err(SystemError::Traffic { field: "streams", value: "of no object".into(), rule });
                }
                let mean = objects.mean_bytes() as u64;
                (objects, mean.max(1))
            }
        };
        let Sources { all, of_bursts, drain, of_corruptions } = sources_of(config, &traffic, sides, Bytes::new(data));
        let groups = groups_of(&traffic);
        let workload = Workload::on(devices, plans, groups, &[1]).over(objects);
        Ok(Workload {
            control: traffic.control,
            strip,
            pause: config.retry.after.max(SHORTEST_PAUSE),
            strips_left: strips_of(&config.corruptions, &of_corruptions),
            sources: all,
            series: series_of(&traffic, of_bursts),
            drain,
            corruption_sources: of_corruptions,
            corruptions: config.corruptions.clone(),
            streams: Some(traffic.clone()),
            ..workload.lasting(traffic.warm_up, traffic.duration)
        })
    }

    /// Schedules the beginning and the end of statistics, bursts and corruptions, and begins the first operations.
    pub(crate) fn start<F: Fabric>(&mut self, site: &mut Site<'_, F>) {
        let begins_at = SimTime::ZERO + self.warm_up;
        if begins_at > SimTime::ZERO {
            self.schedule(begins_at, WorkloadEvent::Begin, site);
        }
        if let Some(end) = self.end() {
            self.schedule(end, WorkloadEvent::End, site);
        }
        self.start_requests(site);
        for (number, corruption) in (0u32..).zip(&self.corruptions) {
            self.schedule(corruption.at, WorkloadEvent::Corrupt(number), site);
        }
        self.start_bursts(site);
        for number in 0..self.sources.len() as u32 {
            let Source { interval, first_due, owed, .. } = self.sources[number as usize];
            if interval > SimDuration::ZERO {
                if first_due < SimTime::MAX {
                    self.schedule(first_due, WorkloadEvent::Pace(number), site);
                }
            } else if owed == ENDLESS {
                self.ramp(number, site);
            }
        }
    }
}
