//! Flows over the time of a run: rates are constant from one event to the next, and what an event touches is solved again.
//!
//! A flow is always asked for more (a window that is kept full), is asked for so much a second, of which what it does not get is a backlog, or
//! is asked for volumes at their times. Events are: a volume comes, a volume or a backlog is done, a trace is over, a fault begins or ends.

mod events;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use resilver_flow::{Flow, OWN_CAP, RunningFlows};
use resilver_kernel::Digest;
use resilver_units::{SimDuration, SimTime};

use super::sharing::{FULL, Parts};
use super::stretches::Stretches;
use super::{Steady, told};
use crate::SystemError;
use crate::clients::measures::JobBurst;
use crate::clients::{Asked, ClientFlow};

/// What happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A volume of a series comes.
    Volume(u32),
    /// A requester has moved its volume or its backlog, unless its rate has changed since.
    Done(u32, u32),
    /// A requester asks for nothing more.
    Stop(u32),
}

/// A requester as a flow.
#[derive(Clone, Copy, Debug)]
struct State {
    /// Its number among those that run.
    number: Option<u32>,
    rate: f64,
    binding: u32,
    /// Up to when it is told what it moved.
    since: SimTime,
    /// What it was asked for and has not moved; infinite where it is always asked for more.
    left: f64,
    /// Whether it gets less than it asks for, or has got less.
    is_behind: bool,
    is_stopped: bool,
    /// How often its rate has changed.
    version: u32,
    /// Volumes behind the one that it moves, and how many it has moved.
    waiting: u32,
    done: u32,
    series: Option<u32>,
}

/// What is known of a requester between two faults.
#[derive(Clone, Copy, Debug, Default)]
struct Rated {
    /// What it gets at the most, by what it has under way.
    most: f64,
    /// Bytes a second that it asks for; infinite where it is always asked for more.
    asks: f64,
    size: f64,
    alone: f64,
    read_data: f64,
    law: usize,
    /// What it has under way, within how many seconds an answer is followed, and whether its requests keep a distance.
    window: f64,
    interval: f64,
    is_paced: bool,
}

/// A volume under way.
#[derive(Clone, Debug)]
struct Active {
    asked: SimTime,
    began: SimTime,
    /// Clients that are not done with it.
    clients: usize,
    /// What moved of it, by the layer of what bound it; clients come last.
    bound: Vec<f64>,
}

/// The volumes of a series.
#[derive(Clone, Debug, Default)]
pub(super) struct Volumes {
    pub clients: Vec<u32>,
    /// The bytes of one client in each.
    share: f64,
    /// Those that have begun.
    active: VecDeque<Active>,
    /// How many were asked for, and how many are done.
    asked: u64,
    done: u32,
    /// How many ended in the time of statistics, and how long they took together.
    pub counted: u64,
    pub seconds: f64,
    pub rows: Vec<JobBurst>,
}

/// What a requester moved in the time of statistics between two faults.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moved {
    pub bytes: f64,
    /// Seconds that its requests took together, where that is known.
    pub seconds: f64,
}

/// Flows under way.
pub(super) struct Course {
    pub now: SimTime,
    phase: usize,
    /// When statistics begin.
    since: SimTime,
    end: SimTime,
    running: RunningFlows,
    owner: Vec<u32>,
    states: Vec<State>,
    rated: Vec<Rated>,
    pub volumes: Vec<Volumes>,
    events: BinaryHeap<Reverse<(SimTime, Event)>>,
    changed: Vec<u32>,
    pub stretches: Stretches,
    /// By phase, then by requester.
    pub moved: Vec<Moved>,
    parts: Parts,
    /// By part, the number of its layer; behind the last one clients.
    layer_of: Vec<usize>,
    layers: usize,
    pub digest: Digest,
    pub happened: u64,
}

impl Course {
    /// Begins the flows of a system of which all has been tried.
    pub fn begin(steady: &Steady, parts: Parts) -> Result<Self, SystemError> {
        let state = |flow: &ClientFlow| State {
            number: None,
            rate: 0.0,
            binding: OWN_CAP,
            since: SimTime::ZERO,
            left: if flow.demand.asked == Asked::Always { f64::INFINITY } else { 0.0 },
            is_behind: false,
            is_stopped: false,
            version: 0,
            waiting: 0,
            done: 0,
            series: None,
        };
        let end = steady.phases.last().map_or(SimTime::ZERO, |phase| phase.to);
        let (layer_of, layers) = parts.numbered_layers();
        let count = steady.flows.len();
        let mut course = Course {
            now: SimTime::ZERO,
            phase: 0,
            since: steady.since(),
            end,
            running: RunningFlows::default(),
            owner: Vec::new(),
            states: steady.flows.iter().map(state).collect(),
            rated: vec![Rated::default(); count],
            volumes: vec![Volumes::default(); steady.series.len()],
            events: BinaryHeap::new(),
            changed: Vec::new(),
            stretches: Stretches::new(count, end.since(SimTime::ZERO)),
            moved: vec![Moved::default(); count * steady.phases.len()],
            parts,
            layer_of,
            layers,
            digest: Digest::new(),
            happened: 0,
        };
        for (number, &ClientFlow { demand, .. }) in (0u32..).zip(&steady.flows) {
            if let Asked::Requests(_, until) = demand.asked {
                course.at(until, Event::Stop(number));
            }
            if let Some(series) = steady.series.iter().position(|series| series.law == demand.law) {
                course.states[number as usize].series = Some(series as u32);
                course.volumes[series].clients.push(number);
            }
        }
        for (number, series) in (0u32..).zip(&steady.series) {
            let volumes = &mut course.volumes[number as usize];
            volumes.share = series.volume / volumes.clients.len() as f64;
            course.at(series.first, Event::Volume(number));
        }
        course.enter_phase(steady)?;
        Ok(course)
    }

    fn at(&mut self, time: SimTime, event: Event) {
        if time < self.end {
            self.events.push(Reverse((time, event)));
        }
    }

    /// Goes on by so many events; returns whether the run is over.
    pub fn advance(&mut self, steady: &Steady, events: u64) -> Result<bool, SystemError> {
        let until = self.happened + events;
        while self.happened < until {
            let Some(phase) = steady.phases.get(self.phase) else { return Ok(true) };
            match self.events.peek() {
                Some(&Reverse((at, _))) if at < phase.to => {
                    self.now = at;
                    self.happen(steady)?;
                }
                _ => {
                    self.now = phase.to;
                    self.close(self.phase + 1);
                    self.phase += 1;
                    if self.phase < steady.phases.len() {
                        self.enter_phase(steady)?;
                    }
                }
            }
        }
        Ok(false)
    }

    /// All flows go on at the costs between two faults.
    fn enter_phase(&mut self, steady: &Steady) -> Result<(), SystemError> {
        self.running = RunningFlows::new(vec![1.0; self.parts.count()]).map_err(told)?;
        for number in 0..self.states.len() as u32 {
            let trial = steady.trial(self.phase, number as usize);
            self.rated[number as usize] = Rated {
                most: steady.most_of(trial),
                asks: trial.asks(),
                size: trial.size(),
                alone: trial.alone(),
                read_data: trial.read_data(),
                law: trial.of.law,
                window: trial.of.window,
                interval: trial.of.interval.seconds(),
                is_paced: trial.of.gap > SimDuration::ZERO,
            };
            let state = &mut self.states[number as usize];
            state.number = None;
            let is_asked = match state.series {
                Some(_) => state.left > 0.0,
                None => !state.is_stopped || state.left > 0.0,
            };
            if is_asked {
                self.begin_flow(steady, number)?;
            }
        }
        self.settle()
    }

    /// The rate that a requester asks for at the most now.
    fn cap(&self, number: u32) -> f64 {
        let (state, rated) = (&self.states[number as usize], &self.rated[number as usize]);
        if state.series.is_some() || state.is_behind { rated.most } else { rated.most.min(rated.asks) }
    }

    fn begin_flow(&mut self, steady: &Steady, number: u32) -> Result<(), SystemError> {
        let trial = steady.trial(self.phase, number as usize);
        let way: Vec<(u32, f64)> = trial.way().collect();
        let flow = Flow { weight: trial.weight(), cap: self.cap(number), count: 1 };
        let running = self.running.begin(&way, flow).map_err(told)?;
        self.owner.resize(self.owner.len().max(running as usize + 1), 0);
        self.owner[running as usize] = number;
        let state = &mut self.states[number as usize];
        (state.number, state.rate, state.since) = (Some(running), 0.0, self.now);
        Ok(())
    }

    fn end_flow(&mut self, number: u32) {
        let state = &mut self.states[number as usize];
        if let Some(running) = state.number.take() {
            self.running.end(running);
        }
        state.rate = 0.0;
        state.version += 1;
        self.stretches.leave(number);
    }

    /// Ends the present stretch of time.
    fn close(&mut self, phase: usize) {
        (0..self.states.len() as u32).for_each(|number| self.tell(number));
        let mut full = vec![0; self.layers];
        for part in 0..self.parts.count() as u32 {
            if self.running.used(part) >= FULL {
                full[self.layer_of[part as usize]] += 1;
            }
        }
        let (states, volumes, layer_of) = (&self.states, &self.volumes, &self.layer_of);
        let left = |number: usize| {
            let state = &states[number];
            let behind = state.series.map_or(0.0, |of| f64::from(state.waiting) * volumes[of as usize].share);
            Some(state.left + behind).filter(|left| left.is_finite())
        };
        let full_beside = |part: u32| layer_of.get(part as usize).map_or(0, |&layer| full[layer].max(1));
        self.stretches.close(self.now, phase, left, full_beside);
    }

    /// Tells what a requester moved up to now.
    fn tell(&mut self, number: u32) {
        let (now, since_statistics) = (self.now, self.since);
        let Rated { asks, size, alone, read_data, .. } = self.rated[number as usize];
        let state = &mut self.states[number as usize];
        let from = std::mem::replace(&mut state.since, now);
        let seconds = now.since(from).seconds();
        if seconds <= 0.0 || state.number.is_none() {
            return;
        }
        let mut bytes = state.rate * seconds;
        if state.series.is_some() {
            bytes = bytes.min(state.left);
            state.left -= bytes;
        } else if state.is_behind && state.left.is_finite() {
            let asked = if state.is_stopped { 0.0 } else { asks };
            state.left = (state.left + asked * seconds - bytes).max(0.0);
        }
        let share = now.max(since_statistics).since(from.max(since_statistics)).seconds() / seconds;
        self.stretches.add(number, bytes, bytes * share);
        let State { binding, series, left, .. } = *state;
        let place = self.phase * self.rated.len() + number as usize;
        self.moved[place].bytes += bytes * share;
        if let Some(series) = series {
            let layer = self.layer_of.get(binding as usize).copied().unwrap_or(self.layers);
            if let Some(front) = self.volumes[series as usize].active.front_mut() {
                front.bound[layer] += bytes;
            }
            return;
        }
        let requests = bytes / size;
        let taken = if left.is_infinite() { self.taken(number, (requests, seconds)) } else { requests * alone };
        self.moved[place].seconds += taken * share;
        let delay = if requests > 0.0 { taken / requests } else { 0.0 };
        let reads = requests * read_data;
        self.stretches.serve(0, (reads, size, delay));
        self.stretches.serve(1, (requests - reads, size, delay));
    }

    /// How long requests took together, of a requester that always has some under way (Little's law).
    fn taken(&self, number: u32, (requests, seconds): (f64, f64)) -> f64 {
        let Rated { window, interval, is_paced, alone, .. } = self.rated[number as usize];
        if self.states[number as usize].binding == OWN_CAP && is_paced {
            // Requests that keep a distance are not all under way, and none of them waits.
            return requests * alone;
        }
        (window * seconds - requests * interval / 2.0).max(0.0)
    }
}
