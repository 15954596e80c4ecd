//! The rules that a map's parts must keep among each other.

use std::collections::BTreeSet;

use crate::map::draft::{BUCKET_LIMIT, DEVICE_LIMIT, Draft, DraftRule, duplicate, slot_of};
use crate::map::error::MapError;
use crate::map::place::{Fault, Place};
use crate::map::rule::{Rule, Step};

/// Choose steps a rule may have; each goes one level down at least, and Ceph's maps have at most ten.
const STEPS_LIMIT: usize = 64;

/// Retries, counts and tunables stay at or below this, so that a placement that cannot succeed ends in reasonable time.
const TRIES_LIMIT: u32 = 10_000;
/// `chooseleaf_vary_r` shifts a 32-bit number by one less.
const VARY_R_LIMIT: u32 = 32;
/// Rule ids, rulesets and sizes are bytes in Ceph's own form.
const BYTE_LIMIT: u32 = 255;

/// A name holds nothing that a terminal or a page would obey instead of showing it.
fn check_printable(what: &str, id: impl ToString, name: &str) -> Result<(), MapError> {
    // What turns the direction of text, or ends such a turn, looks like another name.
    let turns =
        |letter: char| matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if !name.chars().any(|letter| letter.is_control() || turns(letter)) {
        return Ok(());
    }
    let field = format!("{what} {}: name", id.to_string());
    Err(MapError::invalid(field, name.escape_default(), "a name has printable characters", "rename it"))
}

impl Draft {
    pub(crate) fn check_tunables(&self) -> Result<(), Fault> {
        for (name, value) in self.tunables.named() {
            let limit = match name {
                "chooseleaf_vary_r" => VARY_R_LIMIT,
                "straw_calc_version" | "chooseleaf_stable" => BYTE_LIMIT,
                "allowed_bucket_algs" => u32::MAX,
                _ => TRIES_LIMIT,
            };
            if value > limit {
                let set = self.tunable_places.iter().rev().find(|entry| entry.0 == name);
                let place = set.map_or(Place::Unknown, |entry| entry.1);
                return Err(Fault { place, error: over_limit(format!("tunable {name}"), value, limit) });
            }
        }
        Ok(())
    }

    /// Ids and names are unique, names across devices and buckets together.
    pub(crate) fn check_names(&self) -> Result<(), Fault> {
        let mut names = BTreeSet::new();
        let mut ids = BTreeSet::new();
        let devices = self.devices.iter().map(|device| ("device", device.id, &device.name, device.place));
        let buckets = self.buckets.iter().map(|bucket| ("bucket", bucket.id, &bucket.name, bucket.place));
        for (what, id, name, place) in devices.chain(buckets) {
            if !ids.insert(id) {
                return Err(Fault { place, error: duplicate(format!("{what} {name}: id"), id) });
            }
            check_printable(what, id, name).map_err(|error| Fault { place, error })?;
            if !name.is_empty() && !names.insert(name) {
                return Err(Fault { place, error: duplicate(format!("{what} {id}: name"), name) });
            }
        }
        let mut types = BTreeSet::new();
        for entry in &self.types {
            check_printable("type", entry.id, &entry.name).map_err(|error| Fault { place: entry.place, error })?;
            if !types.insert(entry.id) {
                return Err(Fault {
                    place: entry.place,
                    error: duplicate(format!("type {}: id", entry.name), entry.id),
                });
            }
        }
        let mut rules = BTreeSet::new();
        for DraftRule { rule, place, .. } in &self.rules {
            check_printable("rule", rule.id, &rule.name).map_err(|error| Fault { place: *place, error })?;
            if !rules.insert(rule.id) {
                return Err(Fault { place: *place, error: duplicate(format!("rule {}: id", rule.name), rule.id) });
            }
        }
        Ok(())
    }

    /// Device ids are in range; returns one more than the largest, declared or used.
    pub(crate) fn check_devices(&self) -> Result<i32, Fault> {
        if let Some(device) = self.devices.iter().find(|device| device.id < 0) {
            let field = format!("device {}: id", device.name);
            let rule = "a device's id is zero or above";
            let error = MapError::invalid(field, device.id, rule, "number devices from 0");
            return Err(Fault { place: device.place, error });
        }
        let mut limit = self.extent.max_devices.max(0);
        let mut largest = (limit - 1, Place::Unknown);
        let mut see = |id: i32, place: Place| {
            if id >= limit {
                limit = id.saturating_add(1);
                largest = (id, place);
            }
        };
        for device in &self.devices {
            see(device.id, device.place);
        }
        for bucket in &self.buckets {
            for (index, &(item, _)) in bucket.items.iter().enumerate() {
                see(item, bucket.item_place(index));
            }
        }
        if largest.0 >= DEVICE_LIMIT {
            let rule = format!("device ids stay below {DEVICE_LIMIT}");
            let remedy = "number devices from 0 without large gaps";
            let error = MapError::invalid("device id", largest.0, rule, remedy);
            return Err(Fault { place: largest.1, error });
        }
        Ok(limit)
    }

    /// Bucket ids and types are in range and all items exist; returns the index of each bucket at `-1 - id`.
    pub(crate) fn check_buckets(&self) -> Result<Vec<u32>, Fault> {
        let types: BTreeSet<i32> = self.types.iter().map(|entry| entry.id).collect();
        let mut slots = Vec::new();
        for (index, bucket) in self.buckets.iter().enumerate() {
            let name = &bucket.name;
            let at = Fault::at(bucket.place);
            if bucket.id >= 0 || bucket.id < -BUCKET_LIMIT {
                let rule = format!("a bucket's id is from -1 down to -{BUCKET_LIMIT}");
                let error = MapError::invalid(format!("bucket {name}: id"), bucket.id, rule, "renumber the buckets");
                return Err(at(error));
            }
            if bucket.type_id <= 0 || bucket.type_id > i32::from(u16::MAX) || !types.contains(&bucket.type_id) {
                return Err(at(MapError::invalid(
                    format!("bucket {name}: type"),
                    bucket.type_id,
                    "a bucket's type is declared in the map, is not 0, the type of devices, and is below 65536",
                    "declare the type",
                )));
            }
            let slot = !bucket.id as usize;
            slots.resize(slots.len().max(slot + 1), u32::MAX);
            slots[slot] = index as u32;
        }
        for bucket in &self.buckets {
            for (index, &(item, _)) in bucket.items.iter().enumerate() {
                if item < 0 && slot_of(&slots, item).is_none() {
                    let error = MapError::invalid(
                        format!("bucket {}: item", bucket.name),
                        item,
                        "an item is a device or a bucket of the map",
                        "add the bucket or remove the item",
                    );
                    return Err(Fault { place: bucket.item_place(index), error });
                }
            }
        }
        Ok(slots)
    }

    /// No bucket contains itself, however far down.
    pub(crate) fn check_acyclic(&self, slots: &[u32]) -> Result<(), Fault> {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            No,
            Open,
            Done,
        }
        let mut seen = vec![Seen::No; self.buckets.len()];
        for start in 0..self.buckets.len() {
            // An explicit stack of (bucket, next item), so that deep maps do not exhaust the call stack.
            let mut path = vec![(start, 0)];
            while let Some(&mut (index, ref mut next)) = path.last_mut() {
                if *next == 0 && seen[index] == Seen::Done {
                    path.pop();
                    continue;
                }
                seen[index] = Seen::Open;
                let Some(&(item, _)) = self.buckets[index].items.get(*next) else {
                    seen[index] = Seen::Done;
                    path.pop();
                    continue;
                };
                let place = self.buckets[index].item_place(*next);
                *next += 1;
                let Some(child) = slot_of(slots, item) else { continue };
                match seen[child] {
                    Seen::Open => {
                        let error = MapError::invalid(
                            format!("bucket {}: item", self.buckets[index].name),
                            &self.buckets[child].name,
                            "a bucket must not contain itself, directly or through others",
                            "remove the item",
                        );
                        return Err(Fault { place, error });
                    }
                    Seen::No => path.push((child, 0)),
                    Seen::Done => {}
                }
            }
        }
        Ok(())
    }

    /// Rules take what exists, choose types that exist, and retry a bounded number of times.
    pub(crate) fn check_rules(&self, slots: &[u32], device_limit: i32) -> Result<(), Fault> {
        let types: BTreeSet<i32> = self.types.iter().map(|entry| entry.id).chain([0]).collect();
        for DraftRule { rule, place, step_places } in &self.rules {
            let name = &rule.name;
            let bytes = [("id", rule.id), ("ruleset", rule.ruleset)];
            let sizes = [("min_size", rule.min_size), ("max_size", rule.max_size)];
            if let Some((what, value)) = bytes.into_iter().chain(sizes).find(|entry| entry.1 > BYTE_LIMIT) {
                let error = MapError::invalid(format!("rule {name}: {what}"), value, "it is at most 255", "lower it");
                return Err(Fault { place: *place, error });
            }
            check_msr(rule).map_err(Fault::at(*place))?;
            for (position, &step) in rule.steps.iter().enumerate() {
                let place = step_places.get(position).copied().unwrap_or(*place);
                let field = |what: &str| format!("rule {name}: step {}: {what}", position + 1);
                check_step(step, field, &types, slots, device_limit).map_err(Fault::at(place))?;
            }
        }
        Ok(())
    }
}

/// One step of a rule.
fn check_step(
    step: Step,
    field: impl Fn(&str) -> String,
    types: &BTreeSet<i32>,
    slots: &[u32],
    device_limit: i32,
) -> Result<(), MapError> {
    let choose = |count: i32, type_id: i32| {
        if !types.contains(&type_id) {
            let rule = "a rule chooses a type of the map";
            return Err(MapError::invalid(field("type"), type_id, rule, "declare the type"));
        }
        if count.unsigned_abs() > TRIES_LIMIT {
            return Err(over_limit(field("count"), count, TRIES_LIMIT));
        }
        Ok(())
    };
    match step {
        Step::Take(item) => {
            let exists = if item >= 0 { item < device_limit } else { slot_of(slots, item).is_some() };
            if exists {
                return Ok(());
            }
            let rule = "a rule takes a bucket or device of the map";
            Err(MapError::invalid(field("take"), item, rule, "name one that exists"))
        }
        Step::Choose(step) => choose(step.count, step.type_id),
        Step::ChooseMsr { count, type_id } => choose(count, type_id),
        _ => match step.as_setting() {
            Some((setting, value)) => {
                let limit = if setting == "set_chooseleaf_vary_r" { VARY_R_LIMIT } else { TRIES_LIMIT };
                if value > limit as i32 { Err(over_limit(field(setting), value, limit)) } else { Ok(()) }
            }
            None => Ok(()),
        },
    }
}

fn over_limit(field: String, value: impl ToString, limit: u32) -> MapError {
    let rule = format!("it must be at most {limit}, so that a placement ends in reasonable time");
    MapError::invalid(field, value, rule, "lower it (Ceph's own values are 100 or less)")
}

/// Refuses what no release of Ceph answers: counts and tries below zero, and more steps than a map has levels.
///
/// A rule whose steps stand in another order than take, choosemsr, emit is no error: it maps to nothing, as in Ceph.
///
/// # Errors
/// The step at fault.
fn check_msr(rule: &Rule) -> Result<(), MapError> {
    let mut chooses = 0;
    for (position, &step) in rule.steps.iter().enumerate() {
        let (what, value) = match step {
            Step::ChooseMsr { count, .. } => ("count", count),
            Step::SetMsrDescents(value) => ("set_msr_descents", value),
            Step::SetMsrCollisionTries(value) => ("set_msr_collision_tries", value),
            _ => continue,
        };
        let field = format!("rule {}: step {}: {what}", rule.name, position + 1);
        if value < 0 {
            return Err(MapError::invalid(field, value, "it is zero or above", "give a number from 0 up"));
        }
        chooses += usize::from(what == "count");
        if chooses > STEPS_LIMIT {
            let limit = format!("a rule has at most {STEPS_LIMIT} choosemsr steps");
            return Err(MapError::invalid(field, chooses, limit, "remove steps; each goes one level down"));
        }
    }
    Ok(())
}
