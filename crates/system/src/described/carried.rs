//! What goes with the parts that carry others.

use std::collections::BTreeMap;

use resilver_parts::{PartId, Parts};
use resilver_units::{DeviceId, SimTime};

use crate::SystemError;
use crate::faults::{Fault, Named};

/// Numbers the parts that faults are of, where requests pass them, and adds the devices that nothing carries any more: of each
/// that the system is told of.
///
/// What carries others has no device in it. While it is gone its partner takes over; who has none, or one that is gone, too,
/// takes along what it carries.
pub(super) fn carry(parts: &Parts, named: &mut Vec<Named>) -> Result<(), SystemError> {
    let mut gone_at: BTreeMap<PartId, SimTime> = BTreeMap::new();
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
            for &part in &ids {
                let at = gone_at.entry(part).or_insert(fault.at);
                *at = fault.at.min(*at);
            }
        }
        if is_carrier || fault.is_slow() {
            fault.parts = ids.iter().map(|part| part.index() as u32).collect();
        }
    }
    let is_cut_off_at = |part: PartId| {
        let at = gone_at.get(&part).copied()?;
        match parts.partner(part) {
            Some(partner) => gone_at.get(&partner).map(|&other| other.max(at)),
            None => Some(at),
        }
    };
    let mut cut_off: BTreeMap<SimTime, Vec<DeviceId>> = BTreeMap::new();
    for device in (0..parts.devices().len() as u32).map(DeviceId::new).filter(|_| !gone_at.is_empty()) {
        if let Some(at) = parts.carriers(device).into_iter().filter_map(is_cut_off_at).min() {
            cut_off.entry(at).or_default().push(device);
        }
    }
    if cut_off.values().map(Vec::len).sum::<usize>() == parts.devices().len() {
        return Err(SystemError::Described(
            "faults: no device is left that anything carries; let fewer fail".to_owned(),
        ));
    }
    // They count as named, so that the devices of one time still fail in the order of their numbers.
    named.extend(cut_off.into_iter().map(|(at, devices)| Named {
        fault: Fault::told(at, devices),
        level: String::new(),
        parts: vec![(0, String::new())],
    }));
    Ok(())
}
