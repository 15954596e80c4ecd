//! The parts of a system that flows share, and what each layer of them allows.

use resilver_flow::{Flow, Flows, OWN_CAP, fair_rates};
use resilver_units::EndpointId;

use super::told;
use super::trial::Trial;
use crate::SystemError;
use crate::conclusion::Conclusion;

/// A layer of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    Devices,
    /// Parts of a level with a service.
    Level(String),
    Interfaces,
    Links,
}

impl Layer {
    /// What it is called; of none, clients.
    pub fn word(layer: Option<&Layer>) -> &str {
        match layer {
            Some(Layer::Devices) => "devices",
            Some(Layer::Interfaces) => "interfaces",
            Some(Layer::Links) => "links",
            Some(Layer::Level(level)) => level,
            None => "clients",
        }
    }
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

    /// By part, the number of its layer, and how many layers there are.
    pub fn numbered_layers(&self) -> (Vec<usize>, usize) {
        let layers = self.layers();
        let layer_of = |part| layers.iter().position(|(layer, _)| *layer == self.place(part).0).unwrap_or(layers.len());
        ((0..self.count() as u32).map(layer_of).collect(), layers.len())
    }

    /// What a layer is called, by its number; behind the last one come clients.
    pub fn word_of(&self, layer: usize) -> String {
        Layer::word(self.layers().get(layer).map(|(layer, _)| layer)).to_owned()
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
pub(super) const FULL: f64 = 1.0 - 1e-6;

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

/// What each layer of the parts allows where all flows of some trials ask at once, each for its most.
pub(super) fn allowed(parts: &Parts, trials: &[(&Trial, f64)]) -> Result<Vec<Allowed>, SystemError> {
    let solve = |is_of: &dyn Fn(u32) -> bool, has_caps: bool| {
        let mut flows = Flows::new(vec![1.0; parts.count()]).map_err(told)?;
        let (mut rows, mut way) = (Vec::with_capacity(trials.len()), Vec::new());
        for &(trial, most) in trials {
            way.clear();
            way.extend(trial.way().filter(|&(part, _)| is_of(part)));
            let flow = Flow { weight: trial.weight(), cap: if has_caps { most } else { f64::INFINITY }, count: 1 };
            rows.push(flows.add(&way, flow).map_err(told)? as usize);
        }
        fair_rates(&flows).map_err(told).map(|rates| (rates, rows))
    };
    let (found, rows) = solve(&|_| true, true)?;
    let binding: Vec<u32> = rows.iter().map(|&row| found.binding[row]).collect();
    let all = |is_of: &dyn Fn(u32) -> bool| {
        let (found, rows) = solve(is_of, false).ok()?;
        Some(rows.iter().map(|&row| found.rates[row]).sum::<f64>())
    };
    let (layer_of, _) = parts.numbered_layers();
    let mut layers = Vec::new();
    for (number, (layer, count)) in parts.layers().into_iter().enumerate() {
        let is_bound = |part: &&u32| **part != OWN_CAP && layer_of[**part as usize] == number;
        layers.push(Allowed {
            alone: all(&|part| layer_of[part as usize] == number),
            stacked: all(&|part| layer_of[part as usize] <= number),
            bound: binding.iter().filter(is_bound).count() as u64,
            parts: count,
            layer: Some(layer),
        });
    }
    let own: f64 = trials.iter().map(|&(_, most)| most).sum();
    let total = rows.iter().map(|&row| found.rates[row]).sum();
    let bound = binding.iter().filter(|&&part| part == OWN_CAP).count() as u64;
    let alone = own.is_finite().then_some(own);
    layers.push(Allowed { layer: None, parts: trials.len(), alone, stacked: Some(total), bound });
    Ok(layers)
}
