//! Laws of a system whose failures are all named, so that what follows can be said to the second.

use resilver_durability::input::*;
use resilver_durability::system::StorageSystem;
use resilver_durability::{Loss, Model};

use super::{draws, drive, failure, one_group};

/// Each repair takes so long.
fn takes(seconds: f64) -> SpeedInput {
    SpeedInput::Parallel { takes: TimeInput::Fixed { seconds } }
}

/// These parts of a level fail at these times.
fn trace(level: usize, effect: EffectInput, failures: &[(f64, u32)]) -> FailureInput {
    let (seconds, parts) = failures.iter().copied().unzip();
    failure(level, LawInput::Trace { seconds, parts }, effect)
}

/// They are away for so long.
fn away(seconds: f64) -> EffectInput {
    EffectInput::Away { lasts: TimeInput::Fixed { seconds }, lost_share: 0.0 }
}

/// One group of a code over all devices, which fail as named.
fn named(code: &str, pieces: u32, repair: f64, failures: &[(f64, u32)]) -> DurabilityInput {
    let mut input = one_group(code, pieces, 1.0, 100.0, takes(repair));
    input.failures = vec![trace(0, EffectInput::Lost, failures)];
    input
}

/// When a system loses data, and what.
fn losses(input: &DurabilityInput) -> Vec<(f64, Loss)> {
    let mut found = Vec::new();
    let mut model = StorageSystem::new(input).unwrap();
    drive(&mut model, input.mission_seconds, &mut draws(1, 0), |at, loss| {
        found.push((at, loss));
        false
    });
    found
}

/// When a system loses data.
fn times(input: &DurabilityInput) -> Vec<f64> {
    losses(input).into_iter().map(|(at, _)| at).collect()
}

#[test]
fn two_failures_at_one_moment_lose_data_at_once() {
    let input = named("copies 2", 2, 1.0, &[(5.0, 0), (5.0, 1)]);
    let loss = Loss { groups: 1, bytes: 1.0, causes: vec![1.0, 0.0] };
    assert_eq!(losses(&input), [(5.0, loss.clone())]);
    // A burst of all, once, is the same.
    let mut burst = input;
    burst.failures =
        vec![failure(0, LawInput::Planned { first_seconds: 5.0, every_seconds: 200.0 }, EffectInput::Lost)];
    burst.failures[0].burst = Some(BurstInput { within: None, sizes: vec![(9, 1.0)], spread_seconds: 0.0 });
    assert_eq!(losses(&burst), [(5.0, loss)]);
    // Spread over 50 s and mended in 1 ms, the two meet with a chance of 4e-5.
    burst.failures[0].burst.as_mut().unwrap().spread_seconds = 50.0;
    burst.repair.speed = takes(1e-3);
    assert_eq!(times(&burst), []);
}

#[test]
fn a_device_that_is_down_is_not_lost_again() {
    // Lost at 5 and whole at 6, whatever is said of it at 5.5; were it lost anew then, the other's loss at 6.2 would lose data.
    assert_eq!(times(&named("copies 2", 2, 1.0, &[(5.0, 0), (5.5, 0), (6.2, 1)])), []);
    assert_eq!(times(&named("copies 2", 2, 1.0, &[(5.0, 0), (5.9, 1)])), [5.9]);
    // A lost group is empty and whole: what comes after begins anew.
    assert_eq!(times(&named("copies 2", 2, 1.0, &[(5.0, 0), (5.9, 1), (7.0, 0), (7.5, 1)])), [5.9, 7.5]);
}

#[test]
fn a_source_may_fail_in_the_middle_of_a_rebuild() {
    // rs 2+2: the first is whole at 11, the second at 15. A third at 9 is one too many, at 12 it is the second of two.
    assert_eq!(times(&named("rs 2+2", 4, 10.0, &[(1.0, 0), (5.0, 1), (9.0, 2)])), [9.0]);
    assert_eq!(times(&named("rs 2+2", 4, 10.0, &[(1.0, 0), (5.0, 1), (12.0, 2)])), []);
}

#[test]
fn a_detection_and_a_replacement_come_before_the_repair() {
    let mut input = named("copies 2", 2, 1.0, &[(5.0, 0), (10.5, 1)]);
    assert_eq!(times(&input), []);
    (input.repair.detection, input.repair.replacement) =
        (TimeInput::Fixed { seconds: 2.0 }, TimeInput::Fixed { seconds: 3.0 });
    // Whole at 5 + 2 + 3 + 1 = 11.
    assert_eq!(times(&input), [10.5]);
}

/// Two hosts of two devices, a group of two copies on these devices.
fn two_hosts(set: [u32; 2], failures: Vec<FailureInput>) -> DurabilityInput {
    let mut input = one_group("copies 2", 4, 1.0, 100.0, takes(1.0));
    input.levels = vec![
        LevelInput { name: "host".into(), parents: vec![0, 0] },
        LevelInput { name: "osd".into(), parents: vec![0, 0, 1, 1] },
    ];
    (input.pools[0].sets, input.failures) = (set.to_vec(), failures);
    input
}

#[test]
fn a_host_that_is_lost_takes_its_devices() {
    let host = || vec![trace(0, EffectInput::Lost, &[(5.0, 0)])];
    assert_eq!(times(&two_hosts([0, 1], host())), [5.0]);
    assert_eq!(times(&two_hosts([1, 2], host())), []);
    // Two causes share a loss: a piece each.
    let both = vec![trace(0, EffectInput::Lost, &[(5.0, 0)]), trace(1, EffectInput::Lost, &[(5.5, 2)])];
    assert_eq!(losses(&two_hosts([1, 2], both))[0].1.causes, [0.5, 0.5, 0.0]);
}

#[test]
fn what_cannot_be_read_waits_with_its_repair() {
    // Host 1 is away from 1 to 11. Device 0 is lost at 2 and could be whole at 3, but the other copy is on host 1.
    for returns in [Returns::Devices, Returns::Groups] {
        for (second, lost) in [(10.5, vec![10.5]), (11.5, vec![])] {
            let away = trace(0, away(10.0), &[(1.0, 1)]);
            let mut input = two_hosts([0, 2], vec![away, trace(1, EffectInput::Lost, &[(2.0, 0), (second, 2)])]);
            input.repair.returns = returns;
            assert_eq!(times(&input), lost, "{returns:?}");
        }
    }
    // The device of a host that is away can be lost, and is made whole elsewhere meanwhile.
    let away = trace(0, away(10.0), &[(1.0, 0)]);
    let input = two_hosts([0, 2], vec![away, trace(1, EffectInput::Lost, &[(2.0, 0), (3.5, 2)])]);
    assert_eq!(times(&input), []);
}

#[test]
fn what_does_not_come_back_is_lost_from_the_beginning_and_missed_at_the_end() {
    let effect = EffectInput::Away { lasts: TimeInput::Fixed { seconds: 10.0 }, lost_share: 1.0 };
    let host = |second| vec![trace(0, effect.clone(), &[(1.0, 0)]), trace(1, EffectInput::Lost, &[(second, 2)])];
    // Known at 11, whole at 12.
    assert_eq!(times(&two_hosts([0, 2], host(1.5))), [1.5]);
    assert_eq!(times(&two_hosts([0, 2], host(11.5))), [11.5]);
    assert_eq!(times(&two_hosts([0, 2], host(12.5))), []);
}

#[test]
fn a_repair_goes_on_when_its_replacement_s_host_is_back() {
    // 100 bytes at 10 a second: from 2 to 12, and as much later as the host was away, of which 4 s of 10 lie within.
    let speed = SpeedInput::Shared { device_bytes_per_second: 10.0, limits: vec![], onto_replacement: true };
    for (second, lost) in [(15.5, vec![15.5]), (16.5, vec![])] {
        let away = trace(0, away(4.0), &[(5.0, 0)]);
        let mut input = two_hosts([0, 2], vec![away, trace(1, EffectInput::Lost, &[(2.0, 0), (second, 2)])]);
        (input.repair.speed, input.pools[0].piece_bytes) = (speed.clone(), vec![100]);
        assert_eq!(times(&input), lost);
    }
}

/// The state after the failures of time 0, and when the next change is.
fn begun(input: &DurabilityInput) -> StorageSystem {
    let mut model = StorageSystem::new(input).unwrap();
    let mut draws = draws(1, 0);
    model.reset(&mut draws);
    while model.next_change() == 0.0 {
        model.change(&mut draws);
    }
    model
}

#[test]
fn bandwidth_is_shared_by_what_is_repaired_at_once() {
    let shared = |limits: &[LimitInput], onto_replacement| SpeedInput::Shared {
        device_bytes_per_second: 10.0,
        limits: limits.to_vec(),
        onto_replacement,
    };
    // Devices 0 and 1 hold 100 bytes each, whose copies are on 2 and 3.
    let next = |failures: &[(f64, u32)], speed| {
        let mut input = two_hosts([0, 2], vec![trace(1, EffectInput::Lost, failures)]);
        input.pools[0].sets = vec![0, 2, 1, 3];
        (input.pools[0].piece_bytes, input.repair.speed) = (vec![100], speed);
        begun(&input).next_change()
    };
    // Alone: the three that are left give 30 together, of which a byte takes 2, and the source and the target 10.
    assert_eq!(next(&[(0.0, 0)], shared(&[], true)), 10.0);
    // Both: the two that are left give 20, half of it to each repair: 5 bytes a second.
    assert_eq!(next(&[(0.0, 0), (0.0, 1)], shared(&[], true)), 20.0);
    // A host that passes 8 lets one through at 8, and two onto the same host at 4.
    let limit = [LimitInput { level: 0, bytes_per_second: 8.0 }];
    assert_eq!(next(&[(0.0, 0)], shared(&limit, true)), 12.5);
    assert_eq!(next(&[(0.0, 0), (0.0, 1)], shared(&limit, true)), 25.0);
    // Spread over all, they share what both hosts pass, 16: 8 each, which the devices' 5 are below.
    assert_eq!(next(&[(0.0, 0), (0.0, 1)], shared(&limit, false)), 20.0);
}

#[test]
fn groups_that_lack_most_are_made_whole_first() {
    // Device 0 holds ten groups of three copies, the first with devices 1 and 2, the others with devices 3 to 20. It takes 10 s, and so does device 1,
    // which holds the first group alone.
    let mut input = one_group("copies 3", 21, 1.0, 100.0, takes(10.0));
    input.pools[0].sets = (0..10).flat_map(|group| [0, 2 * group + 1, 2 * group + 2]).collect();
    input.failures = vec![trace(0, EffectInput::Lost, &[(0.0, 0), (0.0, 1)])];
    (input.repair.returns, input.repair.most_lost_first) = (Returns::Groups, true);
    let mut model = begun(&input);
    assert_eq!((model.damage(), model.steps(), model.next_change()), (2.0 / 3.0, 3, 1.0));
    assert_eq!(model.window(), 1.0);
    model.advance(1.0);
    model.change(&mut draws(1, 0));
    assert_eq!((model.damage(), model.is_idle()), (1.0 / 3.0, false));
    // Whole devices come back at their ends, whatever comes first.
    input.repair.returns = Returns::Devices;
    assert_eq!(begun(&input).next_change(), 10.0);
}

#[test]
fn a_hole_is_a_piece_that_never_was() {
    let mut input = named("rs 2+2", 4, 1.0, &[(5.0, 0), (5.5, 1)]);
    assert_eq!(times(&input), []);
    input.pools[0].sets[3] = NO_DEVICE;
    assert_eq!(times(&input), [5.5]);
    let mut model = StorageSystem::new(&input).unwrap();
    model.reset(&mut draws(1, 0));
    // It is at rest, since nothing of it can heal.
    assert!(model.is_idle() && model.damage() == 0.0);
}

#[test]
fn codes_of_more_than_64_pieces_are_judged_by_level() {
    // Four groups of three lost devices each are the least that lose rs 17+3 over rs 8+2.
    let lost = |count: usize| -> Vec<(f64, u32)> {
        (0..4).flat_map(|group| (0..3).map(move |piece| (0.0, 10 * group + piece))).take(count).collect()
    };
    let input = |count| named("rs 17+3 over rs 8+2", 200, 10.0, &lost(count));
    assert_eq!(begun(&input(11)).damage(), 11.0 / 12.0);
    assert_eq!(times(&input(11)), []);
    assert_eq!(losses(&input(12))[0].1.bytes, 136.0);
}

#[test]
fn bursts_are_as_large_as_drawn_and_within_one_part() {
    // Every device holds a group of one copy, of 1, 100 or 10,000 bytes by its rack, so that lost bytes say how many of which rack.
    let mut input = one_group("copies 1", 30, 1.0, 40_000.0, takes(0.1));
    input.levels.insert(0, LevelInput { name: "rack".into(), parents: vec![0; 3] });
    input.levels[1].parents = (0..30).map(|device| device / 10).collect();
    input.pools[0].piece_bytes = (0..30).map(|device| 100_u64.pow(device / 10)).collect();
    input.failures[0].level = 1;
    input.failures[0].law = LawInput::Planned { first_seconds: 0.0, every_seconds: 1.0 };
    input.failures[0].burst =
        Some(BurstInput { within: Some(0), sizes: vec![(2, 3.0), (50, 1.0)], spread_seconds: 0.0 });
    let found = losses(&input);
    assert_eq!(found.len(), 40_000);
    let of = |groups: u64, rack: u32| {
        let bytes = (groups * 100_u64.pow(rack)) as f64;
        found.iter().filter(|(_, loss)| loss.groups == groups && loss.bytes == bytes).count()
    };
    // What is more than there are is all: 10. Each rack as often: 10,000 and 10,000 / 3, of standard deviations 87 and 55; 4 of them.
    let (twos, tens): (Vec<usize>, Vec<usize>) = (0..3).map(|rack| (of(2, rack), of(10, rack))).unzip();
    assert_eq!(twos.iter().chain(&tens).sum::<usize>(), 40_000, "a burst lies within one rack");
    assert!(twos.iter().all(|&count| count.abs_diff(10_000) < 348), "{twos:?}");
    assert!(tens.iter().all(|&count| count.abs_diff(3_333) < 220), "{tens:?}");
}

#[test]
fn planned_work_takes_one_part_after_the_other() {
    // Four devices of 5 s each, one every 4 s: the second goes while the first is away, and they alone hold the group.
    let mut input = one_group("copies 2", 4, 1.0, 100.0, takes(1.0));
    input.pools[0].sets = vec![1, 2];
    input.failures = vec![failure(0, LawInput::Planned { first_seconds: 2.0, every_seconds: 4.0 }, EffectInput::Lost)];
    input.repair.speed = takes(5.0);
    // Devices 0, 1, 2 at 2, 6 and 10: device 1 is lost until 11; and again 16 s later.
    assert_eq!(times(&input)[..2], [10.0, 26.0]);
}

#[test]
fn latent_errors_count_where_nothing_can_be_spared() {
    // A piece of rs 4+1 is made of 4 others of 1,000 bytes: 4,000 bytes must be readable, at 2e-4 errors a byte read and 1e-5 a byte and second
    // in half of 20 s: 4,000 x 3e-4 = 1.2.
    let latent = LatentInput {
        errors_per_byte_read: 2e-4,
        errors_per_byte_second: 1e-5,
        scrub_every_seconds: Some(20.0),
        bytes_per_error: 7,
    };
    let wanted = 1.0 - f64::exp(-1.2);
    for returns in [Returns::Devices, Returns::Groups] {
        let mut input = named("rs 4+1", 5, 10.0, &[(0.0, 0)]);
        (input.latent, input.pools[0].piece_bytes, input.repair.returns) = (Some(latent.clone()), vec![1000], returns);
        let mut model = begun(&input);
        model.advance(10.0);
        assert!((model.change(&mut draws(1, 0)) - wanted).abs() < 1e-12);
        let loss = model.latent_loss();
        // The errors that are expected where there is one.
        assert!((loss.bytes - 7.0 * 1.2 / wanted).abs() < 1e-9 && loss.causes == [0.0, 1.0]);
        // A code that can spare another piece heals what it meets.
        (input.pools[0].code, input.pools[0].sets) = ("rs 3+2".into(), vec![0, 1, 2, 3, 4]);
        let mut model = begun(&input);
        model.advance(10.0);
        assert_eq!(model.change(&mut draws(1, 0)), 0.0);
    }
}
