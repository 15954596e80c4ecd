//! What binds flows, and what each layer of parts allows, row by row.

use resilver_flow::OWN_CAP;
use resilver_units::{SimDuration, SimTime};

use super::sharing::{Layer, Shared};
use super::{Phase, Steady};
use crate::limits::LimitKind;

/// Flows of a stretch of time that one part binds.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRow {
    /// When it begins, and how long it is.
    pub from: SimTime,
    /// See there.
    pub duration: SimDuration,
    /// The pool that they ask for; `None` where they ask for all.
    pub pool: Option<usize>,
    /// How many there are.
    pub count: u64,
    /// All their rates together, in bytes a second, and the least and the largest.
    pub rate: f64,
    /// See there.
    pub least: f64,
    /// See there.
    pub largest: f64,
    /// What they move in the time of statistics.
    pub bytes: f64,
    /// What kind of part binds them; `None` where what they keep outstanding does.
    pub kind: Option<LimitKind>,
    /// How many parts of its level are full, it included; none where no part binds.
    pub full: u64,
    /// The device, the endpoint or the channel.
    pub number: Option<u32>,
    /// The level and the name of a part between devices and ports.
    pub part: Option<(String, String)>,
}

/// What a layer of parts allows in a stretch of time.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerRow {
    /// When it begins, and how long it is.
    pub from: SimTime,
    /// See there.
    pub duration: SimDuration,
    /// What it is: `devices`, `interfaces`, `links`, `clients`, or the level of its parts.
    pub layer: String,
    /// How many parts it has.
    pub parts: u64,
    /// Bytes a second of all flows where it alone binds; `None` where not all pass it.
    pub alone: Option<f64>,
    /// The same where it and all layers before it do.
    pub stacked: Option<f64>,
    /// What it takes from the layers before it.
    pub lost: Option<f64>,
    /// How many flows it binds.
    pub bound: u64,
}

/// What flows came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowOutcome {
    /// By time, then by what binds them.
    pub rows: Vec<FlowRow>,
    /// By time, then from devices to clients.
    pub layers: Vec<LayerRow>,
}

/// The time of a phase that statistics are of.
pub(super) fn counted(phase: &Phase, since: SimTime) -> SimDuration {
    phase.to.max(since).since(phase.from.max(since))
}

/// Flows by time and by what binds them, in the order in which flows are bound by it first.
pub(super) fn rows(steady: &Steady, shared: &[Shared], since: SimTime) -> Vec<FlowRow> {
    let mut rows: Vec<FlowRow> = Vec::new();
    for (number, (phase, shared)) in steady.phases.iter().zip(shared).enumerate() {
        let (first, count) = (rows.len(), steady.requesters.len());
        let mut keys: Vec<(usize, u32)> = Vec::new();
        let trials = &steady.trials[number * count..(number + 1) * count];
        for (trial, (&rate, &binding)) in trials.iter().zip(shared.rates.iter().zip(&shared.binding)) {
            let key = (trial.of.law, binding);
            let place = keys.iter().position(|other| *other == key).unwrap_or_else(|| {
                let (kind, number, part) = part_of(shared, binding);
                let (from, duration) = (phase.from, phase.to.since(phase.from));
                let pool = steady.config.traffic[trial.of.law].pool;
                let (least, largest, count) = (f64::INFINITY, 0.0, 0);
                let (rate, bytes) = (0.0, 0.0);
                let full = if binding == OWN_CAP { 0 } else { shared.full_beside(binding) };
                rows.push(FlowRow {
                    from,
                    duration,
                    pool,
                    count,
                    rate,
                    least,
                    largest,
                    bytes,
                    kind,
                    full,
                    number,
                    part,
                });
                keys.push(key);
                keys.len() - 1
            });
            let row = &mut rows[first + place];
            row.count += 1;
            row.rate += rate;
            row.least = row.least.min(rate);
            row.largest = row.largest.max(rate);
            row.bytes += rate * counted(phase, since).seconds();
        }
    }
    rows
}

/// What binds a flow, as limits of a rebuild are told.
fn part_of(shared: &Shared, binding: u32) -> (Option<LimitKind>, Option<u32>, Option<(String, String)>) {
    if binding == OWN_CAP {
        return (None, None, None);
    }
    let (layer, number) = shared.parts.place(binding);
    match layer {
        Layer::Devices => (Some(LimitKind::Reading), Some(number), None),
        Layer::Level(_) => (Some(LimitKind::Reading), None, Some(shared.parts.inner[number as usize].clone())),
        Layer::Interfaces if number % 2 == 0 => (Some(LimitKind::Sending), Some(number / 2), None),
        Layer::Interfaces => (Some(LimitKind::Receiving), Some(number / 2), None),
        Layer::Links => (Some(LimitKind::Link), Some(number), None),
    }
}

/// What each layer of parts allows, by time.
pub(super) fn layers(steady: &Steady, shared: &[Shared]) -> Vec<LayerRow> {
    let mut rows = Vec::new();
    for (phase, shared) in steady.phases.iter().zip(shared) {
        let mut before: Option<f64> = None;
        for allowed in &shared.layers {
            let layer = match &allowed.layer {
                Some(Layer::Devices) => "devices",
                Some(Layer::Interfaces) => "interfaces",
                Some(Layer::Links) => "links",
                Some(Layer::Level(level)) => level,
                None => "clients",
            };
            rows.push(LayerRow {
                from: phase.from,
                duration: phase.to.since(phase.from),
                layer: layer.to_owned(),
                parts: allowed.parts as u64,
                alone: allowed.alone,
                stacked: allowed.stacked,
                lost: before.zip(allowed.stacked).map(|(before, after)| (before - after).max(0.0)),
                bound: allowed.bound,
            });
            before = allowed.stacked.or(before);
        }
    }
    rows
}
