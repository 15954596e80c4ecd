//! Progressive filling: all rates rise together until something is full, whose flows stay where they are.
//!
//! A resource is full at the level (its rate over its weight) that leaves nothing of its capacity. As others' flows stop, that level
//! only rises, so a heap of levels may hold old ones: what comes up is renewed, and goes back where it has risen. Each incidence is
//! stopped once and makes a level old at most once, so all of it takes O(incidences x log resources).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::{Flow, FlowError, Flows, OWN_CAP};

/// A resource's sums are made anew once what still rises on it is this much less: differences lose no more than twelve bits, by which
/// levels are ordered; those that are used are summed anew.
const RENEWED_BELOW: f64 = 1.0 / 4096.0;
/// Levels apart by more than rounding.
const ROUNDING: f64 = 1e-12;

/// The rates of flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates {
    /// The rate of each row's flow, one of those that it counts, in bytes a second.
    pub rates: Vec<f64>,
    /// The resource that binds each row's flow, or [`OWN_CAP`].
    pub binding: Vec<u32>,
    /// What each resource gives to all flows.
    pub used: Vec<f64>,
}

/// The max-min fair rates of flows.
///
/// # Errors
/// When numbers lie so far apart that a rate is none.
pub fn fair_rates(flows: &Flows) -> Result<Rates, FlowError> {
    let mut filling = Filling::default();
    let mut rates = Rates::default();
    filling.fill(flows, &mut rates);
    match rates.rates.iter().position(|rate| !rate.is_finite()) {
        Some(flow) => Err(FlowError::NotFinite { flow }),
        None => Ok(rates),
    }
}

/// A resource while rates rise.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// What flows that have stopped take.
    stopped: f64,
    /// What those that rise take at level 1, now and when it was last summed.
    rising: f64,
    summed: f64,
    /// How many rows rise.
    rows: u32,
}

impl Load {
    /// The level at which nothing is left.
    fn level(&self, capacity: f64) -> f64 {
        ((capacity - self.stopped) / self.rising).max(0.0)
    }
}

/// The filling, whose room is used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filling {
    loads: Vec<Load>,
    /// Rows by resource: where each resource's begin, and their numbers.
    starts: Vec<u32>,
    rows: Vec<u32>,
    /// Levels as the bits of numbers from 0 on, which are in the same order, and resources.
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// The level at which each row with a cap has all it asks for, the last first.
    caps: Vec<(u64, u32)>,
}

impl Filling {
    /// Finds the rates of all rows.
    pub fn fill(&mut self, flows: &Flows, rates: &mut Rates) {
        rates.rates.clear();
        // What still rises has no rate.
        rates.rates.resize(flows.flows.len(), f64::NAN);
        rates.binding.clear();
        rates.binding.resize(flows.flows.len(), OWN_CAP);
        self.transpose(flows);
        self.caps.clear();
        let capped = (0..).zip(&flows.flows).filter(|(_, flow)| flow.cap.is_finite());
        self.caps.extend(capped.map(|(row, flow)| ((flow.cap / flow.weight).to_bits(), row)));
        self.caps.sort_unstable_by_key(|&cap| Reverse(cap));
        let levels = (0..).zip(self.loads.iter().zip(&flows.capacities)).filter(|(_, (load, _))| load.rows > 0);
        let levels = levels.map(|(resource, (load, &capacity))| Reverse((load.level(capacity).to_bits(), resource)));
        let mut heap = std::mem::take(&mut self.heap).into_vec();
        heap.clear();
        heap.extend(levels);
        self.heap = BinaryHeap::from(heap);
        if self.loads.iter().all(|load| load.rising.is_finite()) {
            while self.rise(flows, rates) {}
        }
        rates.used.clear();
        rates.used.extend(self.loads.iter().map(|load| load.stopped));
    }

    /// Sorts rows by their resources, and adds up what all take at level 1.
    fn transpose(&mut self, flows: &Flows) {
        let resources = flows.capacities.len();
        self.loads.clear();
        self.loads.resize(resources, Load::default());
        flows.resources.iter().for_each(|&resource| self.loads[resource as usize].rows += 1);
        // Each begins at its end, and moves down as its rows come, the last first.
        self.starts.clear();
        let mut end = 0;
        self.starts.extend(self.loads.iter().map(|load| {
            end += load.rows;
            end
        }));
        self.starts.push(end);
        self.rows.resize(flows.resources.len(), 0);
        for row in (0..flows.flows.len()).rev() {
            let rising = flows.flows[row].weight * flows.flows[row].count as f64;
            for (resource, cost) in flows.row(row) {
                let start = &mut self.starts[resource as usize];
                *start -= 1;
                self.rows[*start as usize] = row as u32;
                self.loads[resource as usize].rising += cost * rising;
            }
        }
        self.loads.iter_mut().for_each(|load| load.summed = load.rising);
    }

    /// Lets rates rise until a row or a resource has all that it asks for or gives, or a level turns out to be old; false once
    /// nothing rises.
    fn rise(&mut self, flows: &Flows, rates: &mut Rates) -> bool {
        let mut full = None;
        while let Some(mut top) = self.heap.peek_mut() {
            let Reverse((bits, resource)) = *top;
            let load = &self.loads[resource as usize];
            if load.rows == 0 {
                PeekMut::pop(top);
                continue;
            }
            let level = load.level(flows.capacities[resource as usize]);
            if level > f64::from_bits(bits) * (1.0 + ROUNDING) {
                *top = Reverse((level.to_bits(), resource));
                continue;
            }
            full = Some((level, resource));
            break;
        }
        if let Some(&(cap, row)) = self.caps.last()
            && full.is_none_or(|(level, _)| f64::from_bits(cap) <= level * (1.0 + ROUNDING))
        {
            self.caps.pop();
            if rates.rates[row as usize].is_nan() {
                rates.rates[row as usize] = flows.flows[row as usize].cap;
                self.stop(flows, row, &rates.rates);
            }
            return true;
        }
        let Some((level, resource)) = full else { return false };
        // Differences have lost some bits; what is summed anew has not, and may show that the level is old after all.
        self.sum(flows, &rates.rates, resource);
        let renewed = self.loads[resource as usize].level(flows.capacities[resource as usize]);
        self.heap.pop();
        if renewed > level * (1.0 + ROUNDING) {
            self.heap.push(Reverse((renewed.to_bits(), resource)));
        } else {
            self.fill_up(flows, resource, renewed, rates);
        }
        true
    }

    /// A row stops at its rate.
    fn stop(&mut self, flows: &Flows, row: u32, rates: &[f64]) {
        let Flow { weight, count, .. } = flows.flows[row as usize];
        let (rate, count) = (rates[row as usize], count as f64);
        for (resource, cost) in flows.row(row as usize) {
            let load = &mut self.loads[resource as usize];
            load.stopped += cost * rate * count;
            load.rising -= cost * weight * count;
            load.rows -= 1;
            if load.rows > 0 && load.rising < load.summed * RENEWED_BELOW {
                self.sum(flows, rates, resource);
            }
        }
    }

    /// Adds up anew what a resource's flows take.
    fn sum(&mut self, flows: &Flows, rates: &[f64], resource: u32) {
        let (mut stopped, mut rising) = (0.0, 0.0);
        for place in self.places(resource) {
            let row = self.rows[place] as usize;
            // The row is in the processor's memory anyway, where its flow is about to stop.
            let cost = flows.row(row).find(|&(other, _)| other == resource).map_or(0.0, |(_, cost)| cost);
            let (flow, rate) = (flows.flows[row], rates[row]);
            if rate.is_nan() {
                rising += cost * flow.weight * flow.count as f64;
            } else {
                stopped += cost * rate * flow.count as f64;
            }
        }
        let load = &mut self.loads[resource as usize];
        (load.stopped, load.rising, load.summed) = (stopped, rising, rising);
    }

    fn places(&self, resource: u32) -> std::ops::Range<usize> {
        self.starts[resource as usize] as usize..self.starts[resource as usize + 1] as usize
    }

    /// A resource is full: what rises on it stops.
    fn fill_up(&mut self, flows: &Flows, resource: u32, level: f64, rates: &mut Rates) {
        for place in self.places(resource) {
            let row = self.rows[place];
            if rates.rates[row as usize].is_nan() {
                // Its own cap ends it no higher, where the two differ by rounding.
                let Flow { weight, cap, .. } = flows.flows[row as usize];
                rates.rates[row as usize] = (level * weight).min(cap);
                rates.binding[row as usize] = resource;
                self.stop(flows, row, &rates.rates);
            }
        }
    }
}
