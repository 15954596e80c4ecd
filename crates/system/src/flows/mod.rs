//! Clients as steady flows: the second way to run a system.
//!
//! What a request costs every part of the system, and how long it takes alone, is not worked out anew: each requester is run by
//! events for itself, one request at a time to each of its servers (`trial`). Of these costs per byte come rates by max-min fair share
//! ([`resilver_flow`]): a closed loop is a flow whose weight is what it keeps outstanding, and whose cap is that over the time that a
//! request takes alone (Little's law). Rates are constant from one event to the next (`course`): a fault, a burst, what is left of it.

mod asking;
mod course;
mod outcome;
mod pairs;
mod rows;
mod sharing;
mod stretches;
mod trial;

use rayon::prelude::*;
use resilver_kernel::Digest;
use resilver_units::{Bytes, DeviceId, SimDuration, SimTime};

use crate::SystemError;
use crate::clients::measures::Period;
use crate::clients::{Asked, ClientFlow, Clients, Demand, Workload};
use crate::conclusion::{Conclusion, FlowsOf};
use crate::ports::Ports;
use crate::running::{Moved, Run, check_numbers};
use crate::scenario::faults::Fault;
use crate::scenario::{FlowLaw, SystemConfig};
use asking::Series;
use course::Course;
use pairs::Pairs;
use sharing::{Allowed, Parts};
use trial::{Trial, Tried};

/// Trials that one step runs for each thread.
const TRIALS_A_THREAD: usize = 4;
/// The most flows.
const FLOWS_MAX: usize = 1 << 20;
/// Events of flows that one step goes through.
const EVENTS_A_STEP: u64 = 1 << 13;

/// Whether any clients of a system are flows.
pub(crate) fn asks(config: &SystemConfig) -> bool {
    let are_flows = config.traffic.iter().any(|traffic| traffic.flow_law().is_some());
    are_flows || config.streams.as_ref().is_some_and(|streams| streams.is_flow)
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
    /// The flows of those who ask for anything.
    flows: Vec<ClientFlow>,
    /// The volumes that come at their times, and whether any clients stream.
    series: Vec<Series>,
    has_streams: bool,
    /// What is tried for them in each phase.
    pairs: Pairs,
    /// What that costs, phase after phase; once all is tried, what requests of each flow do.
    trials: Vec<Trial>,
    /// What the first trial told, whose form the outcome has.
    form: Option<Conclusion>,
    events: u64,
    /// The flows over time, once all is tried.
    course: Option<Course>,
}

/// Begins the flows of a system; `bytes` is what its recovery would move.
///
/// # Errors
/// When the system has what flows do not know.
pub(crate) fn begin(config: &SystemConfig, bytes: Bytes) -> Result<Box<dyn Run>, SystemError> {
    check_numbers(config)?;
    check(config, bytes)?;
    let sides = Ports::new(&config.endpoint_of, &config.ports_of).sides();
    let (asked, series) = asking::with_streams_as_traffic(config)?;
    let workload = Workload::of(&asked, sides)?;
    let clients = workload.and_then(Clients::of).ok_or_else(|| refused("there are no clients"))?;
    let flows = clients.flows();
    if flows.len() > FLOWS_MAX {
        return Err(refused(&format!(
            "{} pairs of a client and a server are flows, and 2^20 are the most; let clients use few of the servers, such as targets = \
             {{ per_client = 1 }}, or enter at fewer places",
            flows.len()
        )));
    }
    Ok(Box::new(Steady {
        phases: phases(&asked),
        pairs: Pairs::of(&asked, &clients, &flows),
        config: asked,
        clients,
        flows,
        series,
        has_streams: config.streams.is_some(),
        trials: Vec::new(),
        form: None,
        events: 0,
        course: None,
    }))
}

fn refused(why: &str) -> SystemError {
    SystemError::Described(format!("traffic.engine = 'flows': {why}"))
}

fn told(error: resilver_flow::FlowError) -> SystemError {
    refused(&error.to_string())
}

/// Refuses what has no meaning as a flow.
fn check(config: &SystemConfig, bytes: Bytes) -> Result<(), SystemError> {
    let stays = |fault: &Fault| {
        let is_inner = fault.devices.is_empty() && fault.nodes.is_empty() && fault.links.is_empty();
        fault.is_slow() || is_inner && !fault.is_told
    };
    let codes = config.pools.iter().any(|pool| pool.code.as_ref().is_some_and(|code| code.coding.is_some()));
    let are_flows = config.traffic.iter().all(|traffic| traffic.flow_law().is_some());
    if !are_flows || config.streams.as_ref().is_some_and(|streams| !streams.is_flow) {
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
    let is_of_a_moment = |law: Option<&FlowLaw>| match law {
        Some(FlowLaw::Trace(rows)) => rows.last().is_none_or(|last| last.at == SimTime::ZERO),
        _ => false,
    };
    if config.traffic.iter().any(|traffic| is_of_a_moment(traffic.flow_law())) {
        return Err(refused("a trace of one moment has no rate; give one that lasts, or use engine = 'events'"));
    }
    let durations = config.traffic.iter().map(|traffic| traffic.duration);
    match durations.chain(config.streams.iter().map(|streams| streams.duration)).all(|given| given.is_some()) {
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

    /// When statistics begin.
    fn since(&self) -> SimTime {
        SimTime::ZERO + self.config.traffic.last().map_or(SimDuration::ZERO, |traffic| traffic.warm_up)
    }

    /// What requests of a flow do between two faults.
    fn trial(&self, phase: usize, flow: usize) -> &Trial {
        &self.trials[phase * self.flows.len() + flow]
    }

    /// Whose the flows of a traffic are.
    fn whose(&self, law: usize) -> FlowsOf {
        match self.series.iter().find(|series| series.law == law) {
            Some(Series { job: Some((job, _)), .. }) => FlowsOf::Job(*job),
            Some(_) => FlowsOf::Bursts,
            None => FlowsOf::Clients,
        }
    }

    /// The rate that a requester asks for at the most, whenever it does.
    fn most_of(&self, trial: &Trial) -> f64 {
        let series = self.series.iter().find(|series| series.law == trial.of.law);
        let clients = self.config.traffic[trial.of.law].requesters.len();
        trial.window_rate().min(series.map_or(f64::INFINITY, |series| series.rate_of_one(clients)))
    }

    /// Whether all clients wait for answers, so that it is known how long these take.
    fn has_delays(&self) -> bool {
        let waits = |ClientFlow { demand, .. }: &ClientFlow| {
            self.whose(demand.law) != FlowsOf::Clients || demand.asked == Asked::Always
        };
        self.flows.iter().all(waits)
    }

    /// Tries what comes next of the pairs, from one on to before another, which have one requester in common.
    fn try_pairs(&self, (phase, from, to): (usize, usize, usize), of: Demand) -> Result<Tried, SystemError> {
        let pairs = &self.pairs.tried[from..to];
        let servers: Vec<DeviceId> = pairs.iter().filter_map(|&(_, server)| server).collect();
        let rows = match self.clients.objects_of(of.law) {
            Some(objects) => trial::rows_of_objects(objects, self.pairs.tried.len()),
            None => {
                let targets = if servers.is_empty() { self.clients.targets_of(of.law).max(1) } else { 1 };
                // Together enough that each device has many, and to each server alike.
                trial::rows(targets, self.pairs.tried.len())?
            }
        };
        trial::run(&self.phases[phase].config, &self.clients, ((pairs[0].0, &servers), of), rows)
    }

    /// The parts that flows share.
    fn parts(&self) -> Result<Parts, SystemError> {
        self.form.as_ref().map(Parts::of).ok_or_else(|| refused("no client asks for anything"))
    }

    /// Makes what was tried into what requests of each flow do.
    fn combine(&mut self) -> Result<(), SystemError> {
        let parts = self.parts()?;
        let (count, mut tried) = (self.pairs.tried.len(), std::mem::take(&mut self.trials));
        for _ in &self.phases {
            let rest = tried.split_off(count);
            let of_phase = self.pairs.trials(&self.clients, &self.flows, &parts, tried);
            self.trials.extend(of_phase);
            tried = rest;
        }
        Ok(())
    }

    /// What each layer allows between two faults.
    fn allowed(&self, phase: usize, parts: &Parts) -> Result<Vec<Allowed>, SystemError> {
        let asking = (0..self.flows.len()).map(|flow| {
            let trial = self.trial(phase, flow);
            let asks = trial.asks();
            let most = self.most_of(trial);
            // Volumes come at once, and what comes at a rate asks for no more.
            (trial, if asks > 0.0 { most.min(asks) } else { most })
        });
        sharing::allowed(parts, &asking.collect::<Vec<_>>())
    }

    /// Tries some of what is yet to be tried; returns whether that is all.
    fn try_some(&mut self) -> Result<bool, SystemError> {
        let (count, demands) = (self.pairs.tried.len(), self.clients.demands());
        let mut next = self.trials.len();
        let mut steps = Vec::new();
        while next < self.total() && steps.len() < TRIALS_A_THREAD * rayon::current_num_threads() {
            let (phase, from) = (next / count, next % count);
            let to = self.pairs.together(from);
            steps.push((phase, from, to));
            next += to - from;
        }
        let try_one = |&step: &(usize, usize, usize)| {
            let of = demands[self.pairs.tried[step.1].0 as usize].expect("only flows are tried");
            self.try_pairs(step, of)
        };
        let tried: Vec<Tried> = steps.par_iter().map(try_one).collect::<Result<_, _>>()?;
        for Tried { trials, form, events } in tried {
            self.trials.extend(trials);
            self.events += events;
            self.form.get_or_insert(form);
        }
        Ok(self.trials.len() == self.total())
    }
}

impl Run for Steady {
    fn advance(&mut self) -> Result<bool, SystemError> {
        let Some(mut course) = self.course.take() else {
            if self.try_some()? {
                self.combine()?;
                self.course = Some(Course::begin(self, self.parts()?)?);
            }
            return Ok(false);
        };
        let is_over = course.advance(self, EVENTS_A_STEP)?;
        self.course = Some(course);
        Ok(is_over)
    }

    fn fraction(&self) -> f64 {
        // Trials take most of the time where few events follow.
        let tried = self.trials.len() as f64 / self.total().max(1) as f64;
        let end = self.phases.last().map_or(0.0, |phase| phase.to.seconds());
        let gone = |course: &Course| course.now.seconds() / end.max(f64::MIN_POSITIVE);
        self.course.as_ref().map_or(tried / 2.0, |course| 0.5 + gone(course).min(1.0) / 2.0)
    }

    fn moved(&self) -> Moved {
        let happened = self.course.as_ref().map_or(0, |course| course.happened);
        let simulated = self.course.as_ref().map_or(SimTime::ZERO, |course| course.now);
        Moved { events: self.events + happened, simulated, ..Moved::default() }
    }

    fn conclude(mut self: Box<Self>) -> Result<(Conclusion, Digest, u64), SystemError> {
        let mut course = self.course.take().ok_or_else(|| refused("no client asks for anything"))?;
        course.tell_of_rest(&self);
        let parts = self.parts()?;
        let allowed: Vec<Vec<Allowed>> =
            (0..self.phases.len()).map(|phase| self.allowed(phase, &parts)).collect::<Result<_, _>>()?;
        let (digest, events) = (course.digest, self.events + course.happened);
        Ok((outcome::conclude(*self, &course, (&parts, &allowed))?, digest, events))
    }
}
