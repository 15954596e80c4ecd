//! What goes with the parts that carry others.

use std::collections::BTreeMap;

use resilver_parts::{PartId, Parts};
use resilver_units::{DeviceId, SimTime};

use super::faults::{Fault, Named, Span, common, merged, span_of};
use crate::SystemError;

/// Numbers the parts that faults are of, where requests pass them, and adds the devices that nothing carries meanwhile: of each
/// that the system is told of.
///
/// What carries others has no device in it. While it is gone its partner takes over; who has none, or one that is gone, too,
/// takes along what it carries.
pub(super) fn carry(parts: &Parts, named: &mut Vec<Named>) -> Result<(), SystemError> {
    let mut gone: BTreeMap<PartId, Vec<Span>> = BTreeMap::new();
    for Named { fault, level, parts: of } in named.iter_mut() {
        let ids: Vec<PartId> = of.iter().filter_map(|(_, name)| parts.find(name)).collect();
        // What carries others has no device in it.
        let is_carrier = !ids.is_empty() && ids.iter().all(|&part| parts.devices_below(part).is_empty());
        if is_carrier && !fault.is_slow() {
            if !fault.is_told {
                return Err(SystemError::Described(format!(
                    "faults: {level}: the system knows of what carries others: leave told out"
                )));
            }
            // Of devices nobody is to be told: who is there to take over is.
            fault.is_told = false;
            ids.iter().for_each(|&part| gone.entry(part).or_default().push(span_of(fault)));
        }
        if is_carrier || fault.is_slow() {
            fault.parts = ids.iter().map(|part| part.index() as u32).collect();
        }
    }
    let gone: BTreeMap<PartId, Vec<Span>> = gone.into_iter().map(|(part, spans)| (part, merged(spans))).collect();
    let cut_off_of = |part: PartId| {
        let own = gone.get(&part).map_or(&[][..], Vec::as_slice);
        match parts.partner(part) {
            Some(partner) => common(own, gone.get(&partner).map_or(&[][..], Vec::as_slice)),
            None => own.to_vec(),
        }
    };
    let mut cut_off: BTreeMap<Span, Vec<DeviceId>> = BTreeMap::new();
    for device in (0..parts.devices().len() as u32).map(DeviceId::new).filter(|_| !gone.is_empty()) {
        let spans = merged(parts.carriers(device).into_iter().flat_map(cut_off_of).collect());
        spans.into_iter().for_each(|span| cut_off.entry(span).or_default().push(device));
    }
    let cut_off_at = |now: SimTime| {
        let holds = cut_off.iter().filter(|&(&(at, until), _)| at <= now && now < until);
        holds.map(|(_, devices)| devices.len()).sum::<usize>()
    };
    if cut_off.keys().any(|&(at, _)| cut_off_at(at) == parts.devices().len()) {
        return Err(SystemError::Described(
            "faults: no device is left that anything carries; let fewer fail".to_owned(),
        ));
    }
    // They count as named, so that the devices of one time still fail in the order of their numbers.
    named.extend(cut_off.into_iter().map(|((at, until), devices)| Named {
        fault: Fault { until: Some(until).filter(|&until| until < SimTime::MAX), ..Fault::told(at, devices) },
        level: String::new(),
        parts: vec![(0, String::new())],
    }));
    Ok(())
}
