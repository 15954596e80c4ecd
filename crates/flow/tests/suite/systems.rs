//! Random systems, and the plain twin of the filling: all loads are summed anew for each level.

use proptest::prelude::*;
use resilver_flow::{Flow, Flows, OWN_CAP};

/// A system as a test writes it.
#[derive(Clone, Debug)]
pub struct System {
    pub capacities: Vec<f64>,
    pub flows: Vec<(Vec<(u32, f64)>, Flow)>,
}

impl System {
    /// Its flows, and the row of each.
    pub fn build(&self) -> (Flows, Vec<usize>) {
        let mut flows = Flows::new(self.capacities.clone()).unwrap();
        let rows = self.flows.iter().map(|(way, flow)| flows.add(way, *flow).unwrap() as usize).collect();
        (flows, rows)
    }
}

/// Capacities, of which some are equal and few are zero.
fn capacity() -> impl Strategy<Value = f64> {
    prop_oneof![6 => 0.01..100.0, 3 => Just(1.0), 1 => Just(0.0)]
}

fn flow(resources: u32) -> impl Strategy<Value = (Vec<(u32, f64)>, Flow)> {
    let cost = prop_oneof![2 => Just(1.0), 1 => 0.001..1000.0];
    let weight = prop_oneof![3 => Just(1.0), 1 => 0.001..1000.0];
    let cap = prop_oneof![2 => Just(f64::INFINITY), 1 => 0.0..10.0];
    let way = prop::collection::vec((0..resources, cost), 1..6);
    (way, weight, cap, 1_u64..4).prop_map(|(way, weight, cap, count)| (way, Flow { weight, cap, count }))
}

/// Systems of up to 12 resources and 60 flows.
pub fn system() -> impl Strategy<Value = System> {
    (1_usize..12).prop_flat_map(|resources| {
        let capacities = prop::collection::vec(capacity(), resources);
        let flows = prop::collection::vec(flow(resources as u32), 1..60);
        (capacities, flows).prop_map(|(capacities, flows)| System { capacities, flows })
    })
}

/// The rates of all flows by filling as the book says it.
pub fn twin(system: &System) -> Vec<f64> {
    let mut rates = vec![None; system.flows.len()];
    while rates.contains(&None) {
        let (mut taken, mut rising) = (vec![0.0; system.capacities.len()], vec![0.0; system.capacities.len()]);
        for ((way, flow), rate) in system.flows.iter().zip(&rates) {
            for &(resource, cost) in way {
                match rate {
                    Some(rate) => taken[resource as usize] += cost * rate * flow.count as f64,
                    None => rising[resource as usize] += cost * flow.weight * flow.count as f64,
                }
            }
        }
        let level_of = |resource: u32| {
            let resource = resource as usize;
            (system.capacities[resource] - taken[resource]).max(0.0) / rising[resource]
        };
        let ends = |(way, flow): &(Vec<(u32, f64)>, Flow)| {
            way.iter().map(|&(resource, _)| level_of(resource)).fold(flow.cap / flow.weight, f64::min)
        };
        let levels: Vec<f64> = system.flows.iter().map(ends).collect();
        let rise = levels.iter().zip(&rates).filter(|(_, rate)| rate.is_none());
        let lowest = rise.map(|(&level, _)| level).fold(f64::INFINITY, f64::min);
        for ((rate, level), (_, flow)) in rates.iter_mut().zip(levels).zip(&system.flows) {
            if rate.is_none() && level <= lowest {
                *rate = Some((level * flow.weight).min(flow.cap));
            }
        }
    }
    rates.into_iter().flatten().collect()
}

/// Whether two rates are equal but for rounding.
pub fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()) + 1e-15
}

/// What each resource gives to flows of these rates.
pub fn used(system: &System, rates: &[f64]) -> Vec<f64> {
    let mut used = vec![0.0; system.capacities.len()];
    for ((way, flow), rate) in system.flows.iter().zip(rates) {
        way.iter().for_each(|&(resource, cost)| used[resource as usize] += cost * rate * flow.count as f64);
    }
    used
}

/// What makes rates max-min fair, and what binds right: capacities hold; who is bound by its cap has it; who is bound by a resource
/// uses it, it is full, and nobody on it has a higher level.
pub fn unfairness(system: &System, rates: &[f64], binding: &[u32]) -> Option<String> {
    let used = used(system, rates);
    for (resource, (&used, &capacity)) in used.iter().zip(&system.capacities).enumerate() {
        if used > capacity * (1.0 + 1e-9) {
            return Some(format!("resource {resource} gives {used} of {capacity}"));
        }
    }
    let level = |flow: usize| rates[flow] / system.flows[flow].1.weight;
    let uses = |flow: usize, resource: u32| system.flows[flow].0.iter().any(|&(used, _)| used == resource);
    for (flow, &resource) in binding.iter().enumerate() {
        if resource == OWN_CAP {
            if rates[flow] != system.flows[flow].1.cap {
                return Some(format!("flow {flow} has {} and asks for {}", rates[flow], system.flows[flow].1.cap));
            }
            continue;
        }
        if !uses(flow, resource) {
            return Some(format!("flow {flow} does not use resource {resource}, which binds it"));
        }
        let capacity = system.capacities[resource as usize];
        if used[resource as usize] < capacity * (1.0 - 1e-9) {
            return Some(format!("resource {resource} is not full"));
        }
        let highest = (0..rates.len()).filter(|&other| uses(other, resource)).map(level).fold(0.0, f64::max);
        if level(flow) < highest * (1.0 - 1e-9) - 1e-15 {
            return Some(format!("flow {flow} has level {} where another has {highest}", level(flow)));
        }
    }
    None
}
