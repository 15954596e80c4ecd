//! What binds flows, and what each layer of parts allows, row by row.

use resilver_flow::OWN_CAP;
use resilver_units::{SimDuration, SimTime};

use super::sharing::{Allowed, Layer, Parts};
use super::stretches::{Group, Stretch};
use super::{Phase, Steady};
use crate::conclusion::{FlowRow, LayerRow};
use crate::recovery::limits::LimitKind;

/// The time of a phase that statistics are of.
pub(super) fn counted(phase: &Phase, since: SimTime) -> SimDuration {
    phase.to.max(since).since(phase.from.max(since))
}

/// Flows by time and by what binds them.
pub(super) fn rows(steady: &Steady, parts: &Parts, stretches: &[Stretch]) -> Vec<FlowRow> {
    let row = |stretch: &Stretch, group: &Group| {
        let (kind, number, part) = part_of(parts, group.binding);
        let duration = stretch.to.since(stretch.from);
        FlowRow {
            from: stretch.from,
            duration,
            of: steady.whose(group.law),
            pool: steady.config.traffic[group.law].pool,
            count: group.most,
            rate: group.bytes / duration.seconds(),
            least: group.least,
            largest: group.largest,
            bytes: group.counted,
            backlog: group.backlog,
            kind,
            full: if group.binding == OWN_CAP { 0 } else { group.full },
            number,
            part,
        }
    };
    stretches.iter().flat_map(|stretch| stretch.groups.iter().map(move |group| row(stretch, group))).collect()
}

/// What binds a flow, as limits of a rebuild are told.
fn part_of(parts: &Parts, binding: u32) -> (Option<LimitKind>, Option<u32>, Option<(String, String)>) {
    if binding == OWN_CAP {
        return (None, None, None);
    }
    let (layer, number) = parts.place(binding);
    match layer {
        Layer::Devices => (Some(LimitKind::Reading), Some(number), None),
        Layer::Level(_) => (Some(LimitKind::Reading), None, Some(parts.inner[number as usize].clone())),
        Layer::Interfaces if number % 2 == 0 => (Some(LimitKind::Sending), Some(number / 2), None),
        Layer::Interfaces => (Some(LimitKind::Receiving), Some(number / 2), None),
        Layer::Links => (Some(LimitKind::Link), Some(number), None),
    }
}

/// What each layer of parts allows, by time.
pub(super) fn layers(steady: &Steady, allowed: &[Vec<Allowed>]) -> Vec<LayerRow> {
    let mut rows = Vec::new();
    for (phase, layers) in steady.phases.iter().zip(allowed) {
        let mut before: Option<f64> = None;
        for allowed in layers {
            rows.push(LayerRow {
                from: phase.from,
                duration: phase.to.since(phase.from),
                layer: Layer::word(allowed.layer.as_ref()).to_owned(),
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
