//! Flows and the resources that they use, row by row: equal flows are one row that is counted.

use std::collections::HashMap;

use thiserror::Error;

/// What a flow asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// Its rate beside those of others where they share; above zero.
    pub weight: f64,
    /// The rate that it asks for at the most, in bytes a second; infinite where it takes what it gets.
    pub cap: f64,
    /// How many such flows there are; one at least.
    pub count: u64,
}

impl Default for Flow {
    fn default() -> Self {
        Flow { weight: 1.0, cap: f64::INFINITY, count: 1 }
    }
}

/// Why there are no rates of flows.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FlowError {
    /// A resource gives no such thing.
    #[error("capacities[{resource}] = {capacity}: a capacity is a finite number from 0 on; give one")]
    Capacity {
        /// Which resource.
        resource: usize,
        /// What it was to give.
        capacity: f64,
    },
    /// A resource that there is not.
    #[error(
        "resources: flow {flow} uses resource {resource}, and there are {count}, numbered from 0; name one of them"
    )]
    NoSuchResource {
        /// Which flow.
        flow: usize,
        /// The number.
        resource: u32,
        /// How many there are.
        count: usize,
    },
    /// A number of a flow that means nothing.
    #[error("{field}: flow {flow} has {value}: {rule}")]
    Value {
        /// What it is of the flow.
        field: &'static str,
        /// Which flow.
        flow: usize,
        /// The number.
        value: f64,
        /// What it must be.
        rule: &'static str,
    },
    /// A flow without an end to its rate.
    #[error("resources: flow {flow} uses no resource and has no cap, so that its rate has no end; give it one of them")]
    Unbounded {
        /// Which flow.
        flow: usize,
    },
    /// More than the numbers of rows hold.
    #[error("resources: flow {flow} would be at place 2^32 or later; give fewer flows, or shorter ways")]
    TooMany {
        /// Which flow.
        flow: usize,
    },
    /// Numbers so far apart that a sum or a rate is none.
    #[error(
        "costs: the rate of flow {flow} is no finite number; give capacities, costs and weights nearer to each other"
    )]
    NotFinite {
        /// Which flow.
        flow: usize,
    },
}

/// Flows over resources, in compressed rows.
#[derive(Clone, Debug, Default)]
pub struct Flows {
    pub(crate) capacities: Vec<f64>,
    /// Where the row of each flow begins, and where the last one ends.
    pub(crate) starts: Vec<u32>,
    pub(crate) resources: Vec<u32>,
    /// What a byte of the row's flow costs the resource.
    pub(crate) costs: Vec<f64>,
    pub(crate) flows: Vec<Flow>,
    /// The first row of each hash, so that equal flows are found; nothing goes through it in its order.
    row_of: HashMap<u64, u32>,
    /// How many flows were added, for messages.
    added: usize,
    way: Vec<(u32, f64)>,
}

impl Flows {
    /// No flows yet over resources of these capacities.
    ///
    /// # Errors
    /// When a capacity is below zero or no finite number.
    pub fn new(capacities: Vec<f64>) -> Result<Self, FlowError> {
        let wrong = |capacity: &f64| !(capacity.is_finite() && *capacity >= 0.0);
        match capacities.iter().position(wrong) {
            Some(resource) => Err(FlowError::Capacity { resource, capacity: capacities[resource] }),
            None => Ok(Flows { capacities, starts: vec![0], ..Flows::default() }),
        }
    }

    /// Adds a flow by the resources on its way and what a byte costs each; costs of one resource add up. Returns its row, which
    /// is that of an equal flow where there is one.
    ///
    /// # Errors
    /// When a resource is none of these, a number means nothing, or nothing ends the flow's rate.
    pub fn add(&mut self, way: &[(u32, f64)], flow: Flow) -> Result<u32, FlowError> {
        let number = self.added;
        let mut sorted = std::mem::take(&mut self.way);
        sorted.clear();
        sorted.extend_from_slice(way);
        let checked = check(&mut sorted, flow, self.capacities.len(), number);
        self.way = sorted;
        checked?;
        self.added += 1;
        let next = self.flows.len() as u32;
        let row = *self.row_of.entry(hash(&self.way, flow)).or_insert(next);
        if row < next && self.equals(row as usize, flow) {
            self.flows[row as usize].count += flow.count;
            return Ok(row);
        }
        // Of two rows with one hash, only what equals the first is merged: rates are the same either way.
        self.push(flow)
    }

    fn push(&mut self, flow: Flow) -> Result<u32, FlowError> {
        let end = u32::try_from(self.resources.len() + self.way.len());
        let end = end.map_err(|_| FlowError::TooMany { flow: self.added - 1 })?;
        let row = self.flows.len() as u32;
        self.resources.extend(self.way.iter().map(|&(resource, _)| resource));
        self.costs.extend(self.way.iter().map(|&(_, cost)| cost));
        self.starts.push(end);
        self.flows.push(flow);
        Ok(row)
    }

    fn equals(&self, row: usize, flow: Flow) -> bool {
        let other = self.flows[row];
        (other.weight, other.cap) == (flow.weight, flow.cap) && self.row(row).eq(self.way.iter().copied())
    }

    /// The resources of a row, by their numbers, and what a byte costs each.
    #[inline]
    pub fn row(&self, row: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.starts[row] as usize..self.starts[row + 1] as usize;
        self.resources[range.clone()].iter().copied().zip(self.costs[range].iter().copied())
    }

    /// What each row's flows ask for, and how many they are.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// What each resource gives.
    pub fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// Begins anew without a flow, over resources that are yet to be said.
    pub(crate) fn clear(&mut self) {
        self.capacities.clear();
        self.starts.clear();
        self.starts.push(0);
        self.resources.clear();
        self.costs.clear();
        self.flows.clear();
    }
}

/// Brings a way into the order of its resources, each once, and checks it.
pub(crate) fn check(way: &mut Vec<(u32, f64)>, flow: Flow, resources: usize, number: usize) -> Result<(), FlowError> {
    let value = |field, value, rule| Err(FlowError::Value { field, flow: number, value, rule });
    for &(resource, cost) in way.iter() {
        if resource as usize >= resources {
            return Err(FlowError::NoSuchResource { flow: number, resource, count: resources });
        }
        if !(cost.is_finite() && cost > 0.0) {
            return value("costs", cost, "a cost is a finite number above 0; give one, or leave the resource out");
        }
    }
    if !(flow.weight.is_finite() && flow.weight > 0.0) {
        return value("weights", flow.weight, "a weight is a finite number above 0; give one");
    }
    if flow.cap.is_nan() || flow.cap < 0.0 {
        return value("caps", flow.cap, "a cap is a number from 0 on; give one, or infinity for none");
    }
    if flow.count == 0 {
        return value("counts", 0.0, "a flow is there once at least; give 1 or more, or leave it out");
    }
    if way.is_empty() && flow.cap.is_infinite() {
        return Err(FlowError::Unbounded { flow: number });
    }
    way.sort_unstable_by_key(|&(resource, _)| resource);
    way.dedup_by(|next, first| {
        let is_same = next.0 == first.0;
        first.1 += if is_same { next.1 } else { 0.0 };
        is_same
    });
    Ok(())
}

/// A hash of all that makes a flow's row, by multiplying and folding: it need only be even.
fn hash(way: &[(u32, f64)], flow: Flow) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let fold = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(FACTOR);
        (product as u64) ^ (product >> 64) as u64
    };
    let words = way.iter().flat_map(|&(resource, cost)| [u64::from(resource) + 1, cost.to_bits()]);
    words.chain([flow.weight.to_bits(), flow.cap.to_bits()]).fold(FACTOR, fold)
}
