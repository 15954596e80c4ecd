//! What is kept of a system against what all its groups say, looked at one by one after each step of many drawn systems.

use super::StorageSystem;
use super::lost::{NONE, Phase};
use crate::input::*;
use crate::{Draws, Hazard, Loss, Model};
use resilver_kernel::{Purpose, Stream};

fn draws(number: u64) -> Draws {
    Stream::new(7, number, Purpose::named("test"))
}

/// One of some.
fn one<T: Clone>(draws: &mut Draws, of: &[T]) -> T {
    of[draws.below(of.len() as u64) as usize].clone()
}

/// A time of mean about `mean`.
fn drawn_time(draws: &mut Draws, mean: f64) -> TimeInput {
    match draws.below(4) {
        0 => TimeInput::Fixed { seconds: mean },
        1 => TimeInput::Exponential { mean_seconds: mean },
        2 => TimeInput::Weibull { shape: 3.0, scale_seconds: mean, least_seconds: mean / 10.0 },
        _ => TimeInput::Drawn { seconds: vec![mean / 2.0, mean, 2.0 * mean] },
    }
}

/// A failure of parts of a level that comes about `often` in the mission of 1,000 s to each.
fn drawn_failure(draws: &mut Draws, level: usize, parts: u32, often: f64) -> FailureInput {
    let rate = often / 1000.0;
    let law = match draws.below(5) {
        0 | 1 => LawInput::Exponential { rate_per_second: rate },
        2 => LawInput::Weibull {
            shape: one(draws, &[0.7, 1.12, 3.0]),
            scale_seconds: 1.0 / rate,
            age_seconds: vec![300.0],
        },
        3 => {
            let mut seconds: Vec<f64> = (0..20).map(|_| (draws.uniform() * 100.0).floor() * 10.0).collect();
            seconds.sort_by(f64::total_cmp);
            let named = (0..20).map(|_| draws.below(u64::from(parts)) as u32).collect();
            LawInput::Trace { seconds, parts: named }
        }
        _ => LawInput::Planned { first_seconds: 3.0, every_seconds: 40.0 },
    };
    let lasts = drawn_time(draws, 8.0);
    let lost_share = one(draws, &[0.0, 0.3]);
    let effect = one(draws, &[EffectInput::Lost, EffectInput::Away { lasts, lost_share }]);
    let is_timed = matches!(law, LawInput::Exponential { .. } | LawInput::Planned { .. });
    let burst = (is_timed && draws.below(3) == 0).then(|| BurstInput {
        within: one(draws, &[None, Some(0)]),
        sizes: vec![(1, 1.0), (3, 2.0), (100, 0.3)],
        spread_seconds: one(draws, &[0.0, 5.0]),
    });
    FailureInput { name: "cause".into(), level, parts: Vec::new(), law, effect, burst }
}

/// A system of 4 racks, 8 hosts and 24 devices, and all else drawn.
fn drawn_system(draws: &mut Draws) -> DurabilityInput {
    let level = |name: &str, parts: u32, above: u32| LevelInput {
        name: name.into(),
        parents: (0..parts).map(|part| part * above / parts).collect(),
    };
    let codes = [
        "copies 2",
        "rs 4+2",
        "rs 2+1",
        "lrc 4+3 local 2",
        "rs 2+1 over rs 2+1",
        "copies 1",
        "product rs 2+1 x rs 2+1",
    ];
    let pools = (0..1 + draws.below(2)).map(|_| {
        let code = one(draws, &codes);
        let pieces = super::judge::Judge::parse(code).unwrap().pieces as usize;
        let (mut sets, groups) = (Vec::new(), 30);
        for _ in 0..groups {
            let mut devices: Vec<u32> = (0..24).collect();
            for place in 0..pieces {
                let other = place + draws.below((24 - place) as u64) as usize;
                devices.swap(place, other);
            }
            if pieces > 2 && draws.below(8) == 0 {
                devices[draws.below(pieces as u64) as usize] = NO_DEVICE;
            }
            sets.extend_from_slice(&devices[..pieces]);
        }
        let piece_bytes = if draws.below(2) == 0 { vec![5] } else { (0..groups).map(|_| 1 + draws.below(9)).collect() };
        PoolInput { name: "pool".into(), code: code.into(), sets, piece_bytes }
    });
    let pools = pools.collect();
    let mut failures = vec![failure_of_devices()];
    for _ in 0..draws.below(4) {
        let level = draws.below(3) as usize;
        failures.push(drawn_failure(draws, level, [4, 8, 24][level], 2.0));
    }
    let takes = drawn_time(draws, 20.0);
    let limits = vec![LimitInput { level: 1, bytes_per_second: 12.0 }];
    let onto_replacement = draws.below(2) == 0;
    let speed = match draws.below(4) {
        0 => SpeedInput::Parallel { takes },
        1 => SpeedInput::Serial { takes, crews: [None, Some(1), Some(2)][draws.below(3) as usize] },
        2 => SpeedInput::ByLost { takes: vec![takes, TimeInput::Fixed { seconds: 30.0 }] },
        _ => SpeedInput::Shared { device_bytes_per_second: 5.0, limits, onto_replacement },
    };
    DurabilityInput {
        mission_seconds: 1000.0,
        levels: vec![level("rack", 4, 1), level("host", 8, 4), level("osd", 24, 8)],
        pools,
        failures,
        repair: RepairInput {
            detection: one(draws, &[TimeInput::Fixed { seconds: 0.0 }, TimeInput::Exponential { mean_seconds: 3.0 }]),
            replacement: one(draws, &[TimeInput::Fixed { seconds: 0.0 }, TimeInput::Fixed { seconds: 2.0 }]),
            speed,
            returns: one(draws, &[Returns::Devices, Returns::Groups]),
            most_lost_first: draws.below(2) == 0,
        },
        latent: Some(LatentInput {
            errors_per_byte_read: 1e-4,
            errors_per_byte_second: 1e-6,
            scrub_every_seconds: Some(100.0),
            bytes_per_error: 1,
        }),
    }
}

fn failure_of_devices() -> FailureInput {
    let law = LawInput::Exponential { rate_per_second: 1e-3 };
    FailureInput { name: "disk".into(), level: 2, parts: Vec::new(), law, effect: EffectInput::Lost, burst: None }
}

impl StorageSystem {
    /// The pieces that a group lacks: place and slot.
    fn lacked(&self, group: u32) -> Vec<(u16, u32)> {
        let members = (0..).zip(self.plan.pool(group).members(group));
        members.filter_map(|(place, &device)| Some((place, self.slot_lacking(device, group)?))).collect()
    }

    /// Looks at all groups, parts and causes one by one.
    fn audit(&self) {
        let mut worst = None;
        for group in 0..self.groups() as u32 {
            let pool = self.plan.pool(group);
            let (mut lacked, members) = (self.lacked(group), pool.members(group));
            let holes = (0..).zip(members).filter(|&(_, &device)| device == NO_DEVICE).map(|(place, _)| place);
            let mut places: Vec<u32> = lacked.iter().map(|&(place, _)| u32::from(place)).collect();
            places.extend(holes);
            let margin = pool.judge.margin(&places);
            assert!(lacked.is_empty() || margin > 0, "group {group} is dead and there");
            let is_listed = lacked.len() > 1 || lacked.len() == 1 && places.len() > 1;
            let record = self.damaged.find(group);
            assert_eq!(record.is_some(), is_listed, "group {group} lacks {lacked:?}");
            if let Some(record) = record {
                let mut listed = record.lost.clone();
                listed.sort_unstable();
                lacked.sort_unstable();
                assert_eq!((listed, record.margin), (lacked.clone(), margin), "group {group}");
            }
            if !lacked.is_empty() {
                worst = worst.into_iter().chain([margin]).min();
            }
        }
        // A device counts as lacking for as long as it is lost.
        assert!(worst.is_none_or(|worst| self.focus.margin.is_some_and(|margin| margin <= worst)));
        let mut anew = self.clone();
        anew.focus.forget();
        anew.refocus();
        assert_eq!((&anew.focus.critical, anew.focus.margin), (&self.focus.critical, self.focus.margin));
        let held: usize = self.active.iter().map(|&slot| self.slots[slot as usize].held.len()).sum();
        assert_eq!(self.held, held);
        let lost = self.of_device.iter().filter(|&&slot| slot != NONE).count();
        assert_eq!(lost, self.active.len());
        for &slot in &self.active {
            let lost = &self.slots[slot as usize];
            assert_eq!(self.repairing.contains(&slot), lost.phase == Phase::Repairing);
            assert!(lost.phase != Phase::Holding || !lost.held.is_empty());
            assert!((0.0..=1.0).contains(&lost.left), "{}", lost.left);
        }
        for (number, cause) in self.plan.causes.iter().enumerate() {
            let can = cause.parts.iter().filter(|&&part| !self.is_down(number, part));
            assert_eq!(can.count() as u32, self.states[number].alive, "cause {number}");
            assert!(self.focus.critical[number] <= self.states[number].alive);
        }
    }
}

/// What a drive saw.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    steps: u64,
    failures: u64,
    losses: Vec<(f64, Loss)>,
    latent: f64,
    longest: f64,
}

/// Drives a system through its mission, audited after each step.
fn drive(model: &mut StorageSystem, draws: &mut Draws, is_audited: bool) -> Seen {
    let mission = model.plan.mission;
    let mut hazards = vec![Hazard::default(); model.kinds()];
    let mut seen = Seen::default();
    model.reset(draws);
    while model.now() < mission {
        model.hazards(&mut hazards);
        let total: f64 = hazards.iter().map(|hazard| hazard.rate).sum();
        let at = if total > 0.0 { model.now() + draws.exponential(1.0 / total) } else { f64::INFINITY };
        let limit = model.next_change().min(model.bounded_until()).min(mission);
        let before = model.damage();
        if at < limit {
            for (kind, hazard) in hazards.iter().enumerate() {
                let expected = model.expected_failures(kind, at);
                let bound = hazard.rate * (at - model.now());
                assert!(expected >= 0.0 && expected <= bound * (1.0 + 1e-9) + 1e-12, "{expected} of {bound}");
            }
            model.advance(at);
            let mut left = draws.uniform() * total;
            let kind = hazards.iter().position(|hazard| {
                left -= hazard.rate;
                left < 0.0
            });
            let is_failed = model.fail(kind.expect("one is it"), draws);
            seen.failures += u64::from(is_failed);
            let loss = model.take_loss();
            assert!(model.damage() >= before || loss.is_some(), "a failure makes nothing better");
            seen.losses.extend(loss.map(|loss| (at, loss)));
        } else {
            model.advance(limit);
            if limit >= model.next_change() {
                seen.latent += model.change(draws);
                seen.losses.extend(model.take_loss().map(|loss| (limit, loss)));
            }
        }
        seen.steps += 1;
        assert!(seen.steps < 200_000, "time stands still at {}", model.now());
        if model.is_idle() {
            assert_eq!(model.damage(), 0.0);
        } else if model.damage() > 0.0 {
            assert!(model.window() >= 0.0);
            seen.longest = seen.longest.max(model.window());
        }
        if is_audited {
            model.audit();
        }
    }
    seen
}

// Rules: whatever is asked, what is kept of damaged groups, parts that can fail and bounds of rates is what all groups and parts say; causes of a
// loss add up to 1; the same draws give the same trajectory from a model that has run before and from a new one.
#[test]
fn what_is_kept_is_what_all_groups_say() {
    let mut total = Seen::default();
    for number in 0..150 {
        let mut drawn = draws(number);
        let input = drawn_system(&mut drawn);
        let mut model = StorageSystem::new(&input).unwrap_or_else(|error| panic!("system {number}: {error}"));
        let first = drive(&mut model, &mut draws(1000 + number), true);
        let again = drive(&mut model, &mut draws(1000 + number), false);
        assert_eq!(first, again, "system {number}");
        for (_, loss) in &first.losses {
            assert!((loss.causes.iter().sum::<f64>() - 1.0).abs() < 1e-9 && loss.groups > 0 && loss.bytes > 0.0);
        }
        total.steps += first.steps;
        total.failures += first.failures;
        total.losses.extend(first.losses);
        total.latent += first.latent;
    }
    // About 24 x 1 failures of devices in each, and others.
    assert!(total.failures > 3000 && total.losses.len() > 100 && total.latent > 0.0, "{total:?}");
}
