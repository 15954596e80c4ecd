//! What binds flows, and what each layer of parts allows, row by row.

use resilver_units::{SimDuration, SimTime};

use crate::recovery::limits::LimitKind;

/// Whose flows they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowsOf {
    /// Clients', bursts apart.
    Clients,
    /// Bursts' beside streams.
    Bursts,
    /// A job's, by its number.
    Job(u32),
}

/// Flows of a stretch of time that one part binds.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRow {
    /// When it begins, and how long it is.
    pub from: SimTime,
    /// See there.
    pub duration: SimDuration,
    /// Whose they are.
    pub of: FlowsOf,
    /// The pool that they ask for; `None` where they ask for all.
    pub pool: Option<usize>,
    /// How many there are at a time at the most.
    pub count: u64,
    /// What they move together in bytes a second, on average, and the least and the largest rate.
    pub rate: f64,
    /// See there.
    pub least: f64,
    /// See there.
    pub largest: f64,
    /// What they move in the time of statistics.
    pub bytes: f64,
    /// What they were asked for by the end and have not moved; `None` where they are always asked for more.
    pub backlog: Option<f64>,
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
    /// What was asked for by the end and has not moved, bursts apart; `None` where all are always asked for more.
    pub backlog: Option<f64>,
    /// Whether it is known how long requests take.
    pub has_delays: bool,
}
