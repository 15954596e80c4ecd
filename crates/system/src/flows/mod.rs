//! Clients as steady flows: the second way to run a system.
//!
//! What a request costs every part of the system, and how long it takes alone, is not worked out anew: each requester is run by
//! events for itself, one request at a time to each of its servers (`trial`). Of these costs per byte come rates by max-min fair share
//! ([`resilver_flow`]): a closed loop is a flow whose weight is what it keeps outstanding, and whose cap is that over the time that a
//! request takes alone (Little's law). Rates are constant between faults.

mod outcome;
mod pairs;
mod rows;
mod sharing;
mod trial;

use rayon::prelude::*;
use resilver_kernel::Digest;
use resilver_units::{Bytes, DeviceId, SimTime};

use crate::SystemError;
use crate::actors::{Arrivals, Clients, Loop, Workload};
use crate::config::SystemConfig;
use crate::faults::Fault;
use crate::measures::Period;
use crate::ports::Ports;
use crate::running::{Run, check_numbers};
use crate::simulation::Moved;
use crate::storage::Conclusion;
use pairs::Pairs;
use sharing::{Parts, Shared};
use trial::{Trial, Tried};

pub use rows::{FlowOutcome, FlowRow, LayerRow};

/// Trials that one step runs for each thread.
const TRIALS_A_THREAD: usize = 4;

/// Whether any clients of a system are flows.
pub(crate) fn asks(config: &SystemConfig) -> bool {
    config.traffic.iter().any(|traffic| matches!(traffic.arrivals, Arrivals::Flows { .. }))
}

/// A stretch of time in which nothing begins or ends.
struct Phase {
    from: SimTime,
    to: SimTime,
    /// Where it stands to the faults.
    period: Period,
    /// The system as it is then, from the beginning on.
    config: SystemConfig,
}

/// A system whose clients are flows, under way.
struct Steady {
    config: SystemConfig,
    phases: Vec<Phase>,
    /// Who is tried, one at a time.
    clients: Clients,
    /// The requesters that have requests outstanding.
    requesters: Vec<u32>,
    /// What is tried for them in each phase.
    pairs: Pairs,
    /// What that costs, phase after phase; once all is tried, what requests of each requester do.
    trials: Vec<Trial>,
    /// What the first trial told, whose form the outcome has.
    form: Option<Conclusion>,
    events: u64,
}

/// Begins the flows of a system; `bytes` is what its recovery would move.
///
/// # Errors
/// When the system has what flows do not know.
pub(crate) fn begin(config: &SystemConfig, bytes: Bytes) -> Result<Box<dyn Run>, SystemError> {
    check_numbers(config)?;
    check(config, bytes)?;
    let sides = Ports::new(&config.endpoint_of, &config.ports_of).sides();
    let clients = Workload::of(config, sides)?.and_then(Clients::of).ok_or_else(|| refused("there are no clients"))?;
    let loops = clients.loops();
    let asks = |requester: &u32| loops[*requester as usize].is_some_and(|of| of.outstanding > 0);
    let requesters: Vec<u32> = (0..loops.len() as u32).filter(asks).collect();
    Ok(Box::new(Steady {
        phases: phases(config),
        pairs: Pairs::of(config, &clients, &requesters),
        config: config.clone(),
        clients,
        requesters,
        trials: Vec::new(),
        form: None,
        events: 0,
    }))
}

fn refused(why: &str) -> SystemError {
    SystemError::Described(format!("traffic.engine = 'flows': {why}"))
}

/// Refuses what has no meaning as a flow.
fn check(config: &SystemConfig, bytes: Bytes) -> Result<(), SystemError> {
    let is_flow = |arrivals: &Arrivals| matches!(arrivals, Arrivals::Flows { .. });
    let stays = |fault: &Fault| {
        let is_inner = fault.devices.is_empty() && fault.nodes.is_empty() && fault.links.is_empty();
        fault.is_slow() || is_inner && !fault.is_told
    };
    let codes = config.pools.iter().any(|pool| pool.code.as_ref().is_some_and(|code| code.coding.is_some()));
    if config.traffic.iter().any(|traffic| !is_flow(&traffic.arrivals)) || config.streams.is_some() {
        return Err(refused("all clients of a system are flows, or none; give each traffic the same engine"));
    }
    if config.traffic.iter().any(|traffic| traffic.timeout.is_some()) {
        return Err(refused("no request of a flow is lost; remove timeout, or use engine = 'events'"));
    }
    if config.lanes.is_some() {
        return Err(refused("lanes share time out request by request; remove [lanes], or use engine = 'events'"));
    }
    if codes {
        return Err(refused("flows know no time of coding; remove redundancy.coding, or use engine = 'events'"));
    }
    if !bytes.is_zero() || !config.corruptions.is_empty() || !config.faults.iter().all(stays) {
        let why = "what fails is rebuilt or asked in vain, request by request; let parts be slow (health), or parts with a \
                   partner be gone, or use engine = 'events'";
        return Err(refused(why));
    }
    match config.traffic.iter().all(|traffic| traffic.duration.is_some()) {
        true => Ok(()),
        false => Err(refused("there is no rebuild that its end could wait for; give traffic.duration")),
    }
}

/// The stretches of a run's time between its faults.
fn phases(config: &SystemConfig) -> Vec<Phase> {
    let last = &config.traffic[config.traffic.len() - 1];
    let end = SimTime::ZERO + last.warm_up + last.duration.unwrap_or_default();
    let ends = config.faults.iter().flat_map(|fault| [Some(fault.at), fault.until]).flatten();
    let mut times: Vec<SimTime> = ends.filter(|&at| at < end).chain([SimTime::ZERO, end]).collect();
    times.sort_unstable();
    times.dedup();
    let first = config.faults.iter().map(|fault| fault.at).min().unwrap_or(SimTime::MAX);
    let phase = |pair: &[SimTime]| {
        let (from, to) = (pair[0], pair[1]);
        let holds = |fault: &&Fault| fault.at <= from && fault.until.is_none_or(|until| from < until);
        let always = |fault: &Fault| Fault { at: SimTime::ZERO, until: None, ..fault.clone() };
        let faults: Vec<Fault> = config.faults.iter().filter(holds).map(always).collect();
        let is_to_come = config.faults.iter().any(|fault| fault.at > from);
        let period = match (from < first, faults.is_empty() && !is_to_come) {
            (true, _) => Period::Before,
            (false, true) => Period::After,
            (false, false) => Period::During,
        };
        Phase { from, to, period, config: SystemConfig { faults, ..trial::steady(config) } }
    };
    times.windows(2).map(phase).collect()
}

impl Steady {
    fn total(&self) -> usize {
        self.phases.len() * self.pairs.tried.len()
    }

    /// Tries what comes next of the pairs, from one on to before another, which have one requester in common.
    fn try_pairs(&self, (phase, from, to): (usize, usize, usize), of: Loop) -> Result<Tried, SystemError> {
        let pairs = &self.pairs.tried[from..to];
        let servers: Vec<DeviceId> = pairs.iter().filter_map(|&(_, server)| server).collect();
        let targets = if servers.is_empty() { self.clients.targets_of(of.law).max(1) } else { 1 };
        // Together enough that each device has many, and to each server alike.
        let rows = trial::rows(targets, self.pairs.tried.len())?;
        trial::run(&self.phases[phase].config, &self.clients, ((pairs[0].0, &servers), of), rows)
    }

    /// Makes what was tried into what requests of each requester do.
    fn combine(&mut self) -> Result<(), SystemError> {
        let parts = Parts::of(self.form.as_ref().ok_or_else(|| refused("no client asks for anything"))?);
        let (count, mut tried) = (self.pairs.tried.len(), std::mem::take(&mut self.trials));
        for _ in &self.phases {
            let rest = tried.split_off(count);
            let of_phase = self.pairs.trials(&self.clients, &self.requesters, &parts, tried);
            self.trials.extend(of_phase);
            tried = rest;
        }
        Ok(())
    }

    /// What the trials of a phase come to.
    fn shared(&self, phase: usize) -> Result<Shared, SystemError> {
        let count = self.requesters.len();
        let trials = &self.trials[phase * count..(phase + 1) * count];
        let parts = Parts::of(self.form.as_ref().ok_or_else(|| refused("no client asks for anything"))?);
        sharing::share(&self.config, parts, trials)
    }
}

impl Run for Steady {
    fn advance(&mut self) -> Result<bool, SystemError> {
        let (count, loops) = (self.pairs.tried.len(), self.clients.loops());
        let mut next = self.trials.len();
        let mut steps = Vec::new();
        while next < self.total() && steps.len() < TRIALS_A_THREAD * rayon::current_num_threads() {
            let (phase, from) = (next / count, next % count);
            let to = self.pairs.together(from);
            steps.push((phase, from, to));
            next += to - from;
        }
        let try_some = |&step: &(usize, usize, usize)| {
            let of = loops[self.pairs.tried[step.1].0 as usize].expect("only closed loops are tried");
            self.try_pairs(step, of)
        };
        let tried: Vec<Tried> = steps.par_iter().map(try_some).collect::<Result<_, _>>()?;
        for Tried { trials, form, events } in tried {
            self.trials.extend(trials);
            self.events += events;
            self.form.get_or_insert(form);
        }
        Ok(self.trials.len() == self.total())
    }

    fn fraction(&self) -> f64 {
        self.trials.len() as f64 / self.total().max(1) as f64
    }

    fn moved(&self) -> Moved {
        Moved { events: self.events, ..Moved::default() }
    }

    fn conclude(mut self: Box<Self>) -> Result<(Conclusion, Digest, u64), SystemError> {
        self.combine()?;
        let shared: Vec<Shared> = (0..self.phases.len()).map(|phase| self.shared(phase)).collect::<Result<_, _>>()?;
        let mut digest = Digest::new();
        shared.iter().flat_map(|of| &of.rates).for_each(|rate| digest.fold(rate.to_bits()));
        let events = self.events;
        Ok((outcome::conclude(*self, &shared)?, digest, events))
    }
}
