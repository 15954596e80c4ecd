//! The rates of flows over the parts of a system, and what each layer of parts allows.

use resilver_flow::{Flow, Flows, OWN_CAP, fair_rates};
use resilver_units::{EndpointId, SimDuration};

use super::refused;
use super::trial::{Cost, Trial};
use crate::SystemError;
use crate::config::SystemConfig;
use crate::storage::Conclusion;

/// A layer of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    Devices,
    /// Parts of a level with a service.
    Level(String),
    Interfaces,
    Links,
}

/// The parts of a system that flows share, numbered on from layer to layer.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub devices: usize,
    /// The level and the name of each part with a service.
    pub inner: Vec<(String, String)>,
    pub interfaces: usize,
    pub channels: usize,
}

impl Parts {
    /// Those that a conclusion tells of, in the order in which it does.
    pub fn of(told: &Conclusion) -> Self {
        Parts {
            devices: told.clients.as_ref().map_or(0, |clients| clients.disks.len()),
            inner: told.parts.iter().map(|part| (part.level.clone(), part.name.clone())).collect(),
            interfaces: 2 * told.interfaces.len(),
            channels: told.network.as_ref().map_or(0, |network| network.channels.len()),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.devices + self.inner.len() + self.interfaces + self.channels
    }

    /// The layer of a part, and its number there.
    pub fn place(&self, part: u32) -> (Layer, u32) {
        let (part, inner) = (part as usize, self.devices + self.inner.len());
        match part {
            device if device < self.devices => (Layer::Devices, device as u32),
            one if one < inner => {
                let number = one - self.devices;
                (Layer::Level(self.inner[number].0.clone()), number as u32)
            }
            port if port < inner + self.interfaces => (Layer::Interfaces, (port - inner) as u32),
            channel => (Layer::Links, (channel - inner - self.interfaces) as u32),
        }
    }

    /// A part on the way from one place where clients enter, as the part on the same way from another one: the interface there is that one's.
    pub fn of_entry(&self, part: u32, from: EndpointId, to: EndpointId) -> u32 {
        let first = (self.devices + self.inner.len()) as u32;
        match part.checked_sub(first) {
            Some(port) if port / 2 == from.get() => first + 2 * to.get() + port % 2,
            _ => part,
        }
    }

    /// All layers, from devices to the network, and how many parts each has.
    fn layers(&self) -> Vec<(Layer, usize)> {
        let mut layers = vec![(Layer::Devices, self.devices)];
        for (level, _) in self.inner.iter().rev() {
            let layer = Layer::Level(level.clone());
            if !layers.iter().any(|(other, _)| *other == layer) {
                layers.push((layer, self.inner.iter().filter(|(other, _)| other == level).count()));
            }
        }
        layers.extend([(Layer::Interfaces, self.interfaces), (Layer::Links, self.channels)]);
        layers.retain(|&(_, parts)| parts > 0);
        layers
    }
}

/// From which share of the time on a part is full: what costs that were measured in whole picoseconds lose.
const FULL: f64 = 1.0 - 1e-6;

/// What a layer allows.
#[derive(Clone, Debug)]
pub(super) struct Allowed {
    /// The layer; none of clients themselves.
    pub layer: Option<Layer>,
    pub parts: usize,
    /// All rates together in bytes a second, where this layer alone binds, and with those before it; none where some flow does not pass it.
    pub alone: Option<f64>,
    pub stacked: Option<f64>,
    /// How many flows it binds in the end.
    pub bound: u64,
}

/// The rates of a system's flows.
pub(super) struct Shared {
    pub parts: Parts,
    /// Of each requester that is tried, in bytes a second.
    pub rates: Vec<f64>,
    /// What binds each: a part, or [`OWN_CAP`].
    pub binding: Vec<u32>,
    /// Which share of the time each part is busy.
    pub used: Vec<f64>,
    /// Seconds that a request of each takes with all that it waits for, on average.
    pub delays: Vec<f64>,
    pub layers: Vec<Allowed>,
}

impl Shared {
    /// How many parts of the layer of one are full.
    pub fn full_beside(&self, part: u32) -> u64 {
        let (layer, _) = self.parts.place(part);
        let full = (0..).zip(&self.used).filter(|&(_, &used)| used >= FULL);
        full.filter(|&(other, _)| self.parts.place(other).0 == layer).count() as u64
    }
}

/// What a request of a trial costs on average, and its data.
fn costs_of<'a>(config: &SystemConfig, trial: &'a Trial) -> (impl Iterator<Item = (Cost, f64)> + 'a, f64) {
    let traffic = &config.traffic[trial.of.law];
    let (reads, size) = (traffic.read_share(), traffic.mean_size().max(1.0));
    let of_reads = trial.reads.costs.iter().map(move |&cost| (cost, reads));
    (of_reads.chain(trial.writes.costs.iter().map(move |&cost| (cost, 1.0 - reads))), size)
}

/// Shares the parts of a system out to its flows.
pub(super) fn share(config: &SystemConfig, parts: Parts, trials: &[Trial]) -> Result<Shared, SystemError> {
    let capped = |trial: &Trial| {
        let traffic = &config.traffic[trial.of.law];
        let alone = trial.alone_seconds(traffic.read_share());
        // A request is issued at a random moment of the interval, on average in its middle.
        let cycle = alone + trial.of.interval.seconds() / 2.0;
        let (size, gap) = (traffic.mean_size(), trial.of.gap.seconds());
        let of_loop = if cycle > 0.0 { trial.of.outstanding as f64 * size / cycle } else { f64::INFINITY };
        if gap > 0.0 { of_loop.min(size / gap) } else { of_loop }
    };
    let solve = |is_of: &dyn Fn(u32) -> bool, has_caps: bool| {
        let mut flows = Flows::new(vec![1.0; parts.count()]).map_err(told)?;
        let (mut rows, mut way) = (Vec::with_capacity(trials.len()), Vec::new());
        for trial in trials {
            let (costs, size) = costs_of(config, trial);
            way.clear();
            let busy = costs.filter(|(cost, share)| cost.busy * share > 0.0 && is_of(cost.part));
            way.extend(busy.map(|(cost, share)| (cost.part, cost.busy * share / size)));
            let cap = if has_caps { capped(trial) } else { f64::INFINITY };
            let flow = Flow { weight: trial.of.outstanding as f64, cap, count: 1 };
            rows.push(flows.add(&way, flow).map_err(told)? as usize);
        }
        fair_rates(&flows).map_err(told).map(|rates| (rates, rows))
    };
    let (found, rows) = solve(&|_| true, true)?;
    let rates: Vec<f64> = rows.iter().map(|&row| found.rates[row]).collect();
    let binding: Vec<u32> = rows.iter().map(|&row| found.binding[row]).collect();
    let all = |is_of: &dyn Fn(u32) -> bool| {
        let (found, rows) = solve(is_of, false).ok()?;
        Some(rows.iter().map(|&row| found.rates[row]).sum::<f64>())
    };
    let of_parts = parts.layers();
    let layer_of = |part| of_parts.iter().position(|(layer, _)| *layer == parts.place(part).0);
    let layer_of: Vec<Option<usize>> = (0..parts.count() as u32).map(layer_of).collect();
    let mut layers = Vec::new();
    for (number, (layer, count)) in of_parts.iter().enumerate() {
        let is_bound = |part: &&u32| **part != OWN_CAP && layer_of[**part as usize] == Some(number);
        layers.push(Allowed {
            alone: all(&|part| layer_of[part as usize] == Some(number)),
            stacked: all(&|part| layer_of[part as usize] <= Some(number)),
            bound: binding.iter().filter(is_bound).count() as u64,
            parts: *count,
            layer: Some(layer.clone()),
        });
    }
    let (own, total) = (trials.iter().map(capped).sum::<f64>(), rates.iter().sum());
    let bound = binding.iter().filter(|&&part| part == OWN_CAP).count() as u64;
    let is_finite = own.is_finite();
    let alone = is_finite.then_some(own);
    layers.push(Allowed { layer: None, parts: trials.len(), alone, stacked: Some(total), bound });
    let delay = |(trial, (rate, &binding)): (&Trial, (&f64, &u32))| {
        let traffic = &config.traffic[trial.of.law];
        if binding == OWN_CAP && trial.of.gap > SimDuration::ZERO {
            // Requests that keep a distance are not all outstanding, and none of them waits.
            return trial.alone_seconds(traffic.read_share());
        }
        // What is outstanding is what comes in the time that a request takes and is waited with (Little's law).
        (trial.of.outstanding as f64 * traffic.mean_size() / rate - trial.of.interval.seconds() / 2.0).max(0.0)
    };
    let delays = trials.iter().zip(rates.iter().zip(&binding)).map(delay).collect();
    Ok(Shared { parts, rates, binding, used: found.used, delays, layers })
}

fn told(error: resilver_flow::FlowError) -> SystemError {
    refused(&error.to_string())
}
