//! Flows that begin and end while others run: only what an event touches is solved again.
//!
//! Rates are max-min fair if and only if each flow has what it asks for, or uses a full resource on which its level (its rate over its weight)
//! is the largest (Bertsekas and Gallager, section 6.5.2). So after an event the flows that may have lost that are solved again
//! beside all others as they are; then it is looked at which others have lost it by that, until none has. What is found is
//! the whole solution, because there is only one.

use crate::filling::Filling;
use crate::flows::check;
use crate::{Flow, FlowError, Flows, OWN_CAP, Rates};

/// Levels and loads that differ by less are equal: what sums of many flows lose by rounding.
const TOLERANCE: f64 = 1e-12;
/// So many changes of a resource's load are added up before it is summed anew, lest rounding adds up, too.
const CHANGES_MAX: u32 = 256;
/// No row, in place of the number of one.
const NOBODY: u32 = u32::MAX;

/// A flow that runs.
#[derive(Clone, Debug, Default)]
struct Running {
    /// The resources on its way, what a byte costs each, and its place among the flows there.
    way: Vec<(u32, f64, u32)>,
    flow: Flow,
    rate: f64,
    binding: u32,
    /// Its row among those that are solved again, or nobody.
    row: u32,
}

impl Running {
    fn level(&self) -> f64 {
        self.rate / self.flow.weight
    }
}

/// A resource under flows that run.
#[derive(Clone, Debug, Default)]
struct Resource {
    capacity: f64,
    /// The flows, and the place of the resource on the way of each.
    flows: Vec<(u32, u32)>,
    /// What they take of it together, and how often that has changed since it was summed.
    load: f64,
    changes: u32,
    /// How many of them it binds.
    bound: u32,
    /// Its number among the resources that are solved again, or nobody.
    number: u32,
    /// Whether an event has touched it since rates were settled.
    is_touched: bool,
}

impl Resource {
    /// A flow takes so much more of it.
    fn take(&mut self, more: f64) {
        self.load += more;
        self.changes += 1;
    }
}

/// Flows that begin and end, with rates that are max-min fair whenever they are settled.
#[derive(Clone, Debug, Default)]
pub struct RunningFlows {
    resources: Vec<Resource>,
    flows: Vec<Running>,
    free: Vec<u32>,
    /// What events have touched since rates were settled.
    touched: Vec<u32>,
    begun: Vec<u32>,
    /// The flows that are solved again, in the order of their rows, the resources, and the system that they are.
    again: Vec<u32>,
    region: Vec<u32>,
    part: Flows,
    filling: Filling,
    rates: Rates,
    way: Vec<(u32, f64)>,
    /// What those that are solved again take of each of their resources.
    own: Vec<f64>,
}

impl RunningFlows {
    /// No flows yet over resources of these capacities.
    ///
    /// # Errors
    /// When a capacity is below zero or no finite number.
    pub fn new(capacities: Vec<f64>) -> Result<Self, FlowError> {
        let resource = |&capacity: &f64| Resource { capacity, number: NOBODY, ..Resource::default() };
        let resources = Flows::new(capacities)?.capacities.iter().map(resource).collect();
        Ok(RunningFlows { resources, ..RunningFlows::default() })
    }

    /// A flow begins; returns its number, which is free again once it has ended. It has no rate until rates are settled.
    ///
    /// # Errors
    /// When a resource is none of these, a number means nothing, or nothing ends the flow's rate.
    pub fn begin(&mut self, way: &[(u32, f64)], flow: Flow) -> Result<u32, FlowError> {
        self.way.clear();
        self.way.extend_from_slice(way);
        let number = self.free.last().map_or(self.flows.len(), |&free| free as usize);
        check(&mut self.way, flow, self.resources.len(), number)?;
        if self.free.pop().is_none() {
            self.flows.push(Running::default());
        }
        let running = &mut self.flows[number];
        (running.flow, running.rate, running.binding, running.row) = (flow, 0.0, OWN_CAP, NOBODY);
        running.way.clear();
        for (place, &(resource, cost)) in (0..).zip(&self.way) {
            let flows = &mut self.resources[resource as usize].flows;
            running.way.push((resource, cost, flows.len() as u32));
            flows.push((number as u32, place));
        }
        (0..self.way.len()).for_each(|place| self.touch(self.way[place].0));
        self.begun.push(number as u32);
        Ok(number as u32)
    }

    /// A flow ends.
    pub fn end(&mut self, number: u32) {
        let way = std::mem::take(&mut self.flows[number as usize].way);
        let taken = self.flows[number as usize].rate * self.flows[number as usize].flow.count as f64;
        for &(resource, cost, place) in &way {
            self.resources[resource as usize].take(-cost * taken);
            let flows = &mut self.resources[resource as usize].flows;
            flows.swap_remove(place as usize);
            if let Some(&(moved, at)) = flows.get(place as usize) {
                self.flows[moved as usize].way[at as usize].2 = place;
            }
            self.touch(resource);
        }
        if let Some(binding) = self.resources.get_mut(self.flows[number as usize].binding as usize) {
            binding.bound -= 1;
        }
        self.begun.retain(|&begun| begun != number);
        self.free.push(number);
    }

    /// A flow asks for more or less from now on.
    ///
    /// # Errors
    /// When the cap means nothing, or nothing ends the flow's rate.
    pub fn set_cap(&mut self, number: u32, cap: f64) -> Result<(), FlowError> {
        let Running { way, flow, .. } = &mut self.flows[number as usize];
        if cap.is_nan() || cap < 0.0 {
            let rule = "a cap is a number from 0 on; give one, or infinity for none";
            return Err(FlowError::Value { field: "caps", flow: number as usize, value: cap, rule });
        }
        if way.is_empty() && cap.is_infinite() {
            return Err(FlowError::Unbounded { flow: number as usize });
        }
        flow.cap = cap;
        for place in 0..self.flows[number as usize].way.len() {
            self.touch(self.flows[number as usize].way[place].0);
        }
        self.begun.push(number);
        Ok(())
    }

    /// What all flows took of a resource when rates were last settled.
    pub fn used(&self, resource: u32) -> f64 {
        self.resources[resource as usize].load
    }

    /// The rate of a flow, one of those that it counts, when rates were last settled.
    pub fn rate(&self, number: u32) -> f64 {
        self.flows[number as usize].rate
    }

    /// The resource that bound a flow when rates were last settled, or [`OWN_CAP`].
    pub fn binding(&self, number: u32) -> u32 {
        self.flows[number as usize].binding
    }

    fn touch(&mut self, resource: u32) {
        if !std::mem::replace(&mut self.resources[resource as usize].is_touched, true) {
            self.touched.push(resource);
        }
    }

    /// Makes rates max-min fair again after events; returns the flows that were solved again for that, whose rates may be others.
    ///
    /// # Errors
    /// When numbers lie so far apart that a rate is none.
    pub fn settle(&mut self) -> Result<&[u32], FlowError> {
        self.again.iter().for_each(|&number| self.flows[number as usize].row = NOBODY);
        self.region.iter().for_each(|&resource| self.resources[resource as usize].number = NOBODY);
        self.again.clear();
        self.region.clear();
        let (touched, begun) = (std::mem::take(&mut self.touched), std::mem::take(&mut self.begun));
        for &resource in &touched {
            self.resources[resource as usize].is_touched = false;
            self.enter(resource);
        }
        begun.iter().for_each(|&number| self.include(number));
        (self.touched, self.begun) = (touched, begun);
        self.touched.clear();
        self.begun.clear();
        // Whatever a touched resource binds may get more now, or less.
        for place in 0..self.region.len() {
            let resource = self.region[place];
            if self.resources[resource as usize].bound > 0 {
                self.include_those(resource, |flow| flow.binding == resource);
            }
        }
        loop {
            self.solve()?;
            let before = self.again.len();
            (0..self.region.len()).for_each(|place| self.spread(self.region[place]));
            if self.again.len() == before {
                return Ok(&self.again);
            }
        }
    }

    /// A resource is one of those that are solved again.
    fn enter(&mut self, resource: u32) {
        let number = &mut self.resources[resource as usize].number;
        if *number == NOBODY {
            *number = self.region.len() as u32;
            self.region.push(resource);
        }
    }

    /// A flow is one of those that are solved again.
    fn include(&mut self, number: u32) {
        if self.flows[number as usize].row != NOBODY {
            return;
        }
        self.flows[number as usize].row = self.again.len() as u32;
        self.again.push(number);
        for place in 0..self.flows[number as usize].way.len() {
            self.enter(self.flows[number as usize].way[place].0);
        }
    }

    /// Includes the flows of a resource that are asked for.
    fn include_those(&mut self, resource: u32, is_asked_for: impl Fn(&Running) -> bool) {
        for place in 0..self.resources[resource as usize].flows.len() {
            let (number, _) = self.resources[resource as usize].flows[place];
            if is_asked_for(&self.flows[number as usize]) {
                self.include(number);
            }
        }
    }

    /// What the flows of a resource take of it that are asked for.
    fn taken(&self, resource: u32, is_asked_for: impl Fn(&Running) -> bool) -> f64 {
        let takes = |&(number, place): &(u32, u32)| {
            let running = &self.flows[number as usize];
            let taken = running.way[place as usize].1 * running.rate * running.flow.count as f64;
            if is_asked_for(running) { taken } else { 0.0 }
        };
        self.resources[resource as usize].flows.iter().map(takes).sum()
    }

    /// Solves the flows that are to be, beside what all others take.
    fn solve(&mut self) -> Result<(), FlowError> {
        self.part.clear();
        self.own.clear();
        self.own.resize(self.region.len(), 0.0);
        for &number in &self.again {
            let Running { way, flow, rate, .. } = &self.flows[number as usize];
            for &(resource, cost, _) in way {
                self.own[self.resources[resource as usize].number as usize] += cost * rate * flow.count as f64;
            }
        }
        for (&resource, own) in self.region.iter().zip(&self.own) {
            let Resource { capacity, bound, load, .. } = self.resources[resource as usize];
            // What binds flows has to be known to the last bit; of what binds none, its load is enough.
            let others = if bound > 0 { self.taken(resource, |flow| flow.row == NOBODY) } else { load - own };
            self.part.capacities.push((capacity - others).clamp(0.0, capacity));
        }
        for &number in &self.again {
            let Running { way, flow, .. } = &self.flows[number as usize];
            self.part.resources.extend(way.iter().map(|&(at, ..)| self.resources[at as usize].number));
            self.part.costs.extend(way.iter().map(|&(_, cost, _)| cost));
            self.part.starts.push(self.part.resources.len() as u32);
            self.part.flows.push(*flow);
        }
        self.filling.fill(&self.part, &mut self.rates);
        let found = self.rates.rates.iter().zip(&self.rates.binding);
        for (&number, (&rate, &binding)) in self.again.iter().zip(found) {
            if !rate.is_finite() {
                return Err(FlowError::NotFinite { flow: number as usize });
            }
            let running = &mut self.flows[number as usize];
            let binding = self.region.get(binding as usize).copied().unwrap_or(OWN_CAP);
            let before = std::mem::replace(&mut running.binding, binding);
            let more = (rate - std::mem::replace(&mut running.rate, rate)) * running.flow.count as f64;
            running.way.iter().for_each(|&(at, cost, _)| self.resources[at as usize].take(cost * more));
            if let Some(resource) = self.resources.get_mut(before as usize) {
                resource.bound -= 1;
            }
            if let Some(resource) = self.resources.get_mut(binding as usize) {
                resource.bound += 1;
            }
        }
        Ok(())
    }

    /// Includes the flows of a resource that what was solved beside them makes unfair.
    fn spread(&mut self, resource: u32) {
        let Resource { capacity, bound, load, changes, .. } = self.resources[resource as usize];
        if changes > CHANGES_MAX || bound > 0 || load > capacity * (1.0 + TOLERANCE) {
            let taken = self.taken(resource, |_| true);
            (self.resources[resource as usize].load, self.resources[resource as usize].changes) = (taken, 0);
        }
        let taken = self.resources[resource as usize].load;
        if taken > capacity * (1.0 + TOLERANCE) && self.taken(resource, |flow| flow.row == NOBODY) > capacity {
            self.include_those(resource, |flow| flow.rate > 0.0);
        } else if bound > 0 {
            let is_full = taken >= capacity * (1.0 - TOLERANCE);
            // The lowest level of those that it binds and that were solved: what is not may have no more than they.
            let (mut level, mut least) = (0.0_f64, f64::INFINITY);
            for &(number, _) in &self.resources[resource as usize].flows {
                let running = &self.flows[number as usize];
                level = level.max(running.level());
                if running.binding == resource && running.row != NOBODY {
                    least = least.min(running.level());
                }
            }
            self.include_those(resource, |flow| {
                let is_unfair = flow.binding == resource && !(is_full && flow.level() >= level * (1.0 - TOLERANCE));
                is_unfair || flow.level() > least * (1.0 + TOLERANCE)
            });
        }
    }
}
