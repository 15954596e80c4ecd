//! What means nothing is refused, by field, value, rule and remedy.

use resilver_durability::input::*;
use resilver_durability::system::StorageSystem;

use super::one_group;

/// A way to make an input wrong.
type Change = fn(&mut DurabilityInput);

/// How one is refused after a change.
fn refused(change: Change) -> String {
    let speed = SpeedInput::Parallel { takes: TimeInput::Fixed { seconds: 1.0 } };
    let mut input = one_group("rs 2+1", 4, 1.0, 100.0, speed);
    input.levels.insert(0, LevelInput { name: "host".into(), parents: vec![0, 0] });
    input.levels[1].parents = vec![0, 0, 1, 1];
    input.pools[0].sets = vec![0, 1, 2];
    input.failures[0].level = 1;
    StorageSystem::new(&input).expect("it holds as it is");
    change(&mut input);
    StorageSystem::new(&input).expect_err("it holds no more").to_string()
}

fn law(law: LawInput) -> impl FnOnce(&mut DurabilityInput) {
    |input| input.failures[0].law = law
}

/// Each change is refused with its message, which has a remedy.
fn hold(cases: &[(Change, &str)]) {
    for &(change, message) in cases {
        let found = refused(change);
        assert!(found.contains(message), "{found}\nnot {message}");
        assert!(found.contains("; "), "{found} has no remedy");
    }
}

#[test]
fn missions_and_parts_that_mean_nothing_are_named() {
    hold(&[
        (|input| input.mission_seconds = 0.0, "mission_seconds = 0: it is a finite number above 0"),
        (|input| input.mission_seconds = f64::INFINITY, "mission_seconds = inf"),
        (|input| input.levels.clear(), "levels = []"),
        (|input| input.levels[0].parents.clear(), "levels[0].parents = []"),
        (|input| input.levels[1].parents[3] = 2, "levels[1].parents[3] = 2: the level above has 2 parts"),
        (|input| input.failures.clear(), "failures = []"),
        (|input| input.failures[0].level = 2, "failures[0].level = 2"),
        (|input| input.failures[0].parts = vec![0, 4], "failures[0].parts[1] = 4"),
        (|input| input.failures[0].parts = vec![0, 0], "failures[0].parts[1] = 0: a part is named once"),
    ]);
}

#[test]
fn laws_that_mean_nothing_are_named() {
    hold(&[
        (|input| law(LawInput::Exponential { rate_per_second: 0.0 })(input), "failures[0].law.rate_per_second = 0"),
        (|input| law(LawInput::Exponential { rate_per_second: f64::INFINITY })(input), "rate_per_second = inf"),
        (|input| law(LawInput::Exponential { rate_per_second: f64::NAN })(input), "rate_per_second = NaN"),
        (
            |input| law(LawInput::Weibull { shape: 0.0, scale_seconds: 1.0, age_seconds: vec![] })(input),
            "failures[0].law.shape = 0",
        ),
        (
            |input| law(LawInput::Weibull { shape: 1.0, scale_seconds: 1.0, age_seconds: vec![1.0, 2.0] })(input),
            "failures[0].law.age_seconds = 2 ages of 4 parts",
        ),
        (
            |input| law(LawInput::Trace { seconds: vec![2.0, 1.0], parts: vec![0, 1] })(input),
            "failures[0].law.seconds[1] = 1: a trace never runs backwards; sort the trace by time",
        ),
        (|input| law(LawInput::Trace { seconds: vec![2.0], parts: vec![] })(input), "1 times and 0 parts"),
        (|input| law(LawInput::Trace { seconds: vec![2.0], parts: vec![9] })(input), "failures[0].law.parts[0] = 9"),
        (
            |input| {
                input.failures[0].burst = Some(BurstInput { within: None, sizes: vec![(2, 0.0)], spread_seconds: 0.0 });
            },
            "failures[0].burst.sizes = 0",
        ),
        (
            |input| {
                input.failures[0].level = 0;
                input.failures[0].burst =
                    Some(BurstInput { within: Some(1), sizes: vec![(2, 1.0)], spread_seconds: 0.0 });
            },
            "failures[0].burst.within = 1",
        ),
        (
            |input| {
                law(LawInput::Weibull { shape: 1.0, scale_seconds: 1.0, age_seconds: vec![] })(input);
                input.failures[0].burst = Some(BurstInput { within: None, sizes: vec![(2, 1.0)], spread_seconds: 0.0 });
            },
            "bursts come at a constant rate",
        ),
    ]);
}

#[test]
fn repairs_and_pools_that_mean_nothing_are_named() {
    hold(&[
        (
            |input| input.repair.speed = SpeedInput::Parallel { takes: TimeInput::Fixed { seconds: 0.0 } },
            "repair.speed.takes.seconds = 0: it is a finite number above 0",
        ),
        (|input| input.repair.speed = SpeedInput::ByLost { takes: vec![] }, "repair.speed.takes = []"),
        (
            |input| input.repair.detection = TimeInput::Drawn { seconds: vec![1.0, -1.0] },
            "repair.detection.seconds[1] = -1",
        ),
        (
            |input| {
                input.repair.speed = SpeedInput::Shared {
                    device_bytes_per_second: 1.0,
                    limits: vec![LimitInput { level: 1, bytes_per_second: 1.0 }],
                    onto_replacement: false,
                };
            },
            "repair.speed.limits[0].level = 1",
        ),
        (|input| input.pools.clear(), "pools = []"),
        (
            |input| input.pools[0].code = "rs 8+3".into(),
            "pools[0].code = rs 8+3: a group has its 11 pieces on different devices",
        ),
        (|input| input.pools[0].sets = vec![0, 1], "pools[0].sets = 2 places"),
        (|input| input.pools[0].sets[2] = 4, "pools[0].sets[2] = 4: there are 4 devices"),
        (|input| input.pools[0].sets[2] = 0, "pools[0].sets[2] = 0: a device holds one piece of a group"),
        (|input| input.pools[0].sets = vec![0, NO_DEVICE, NO_DEVICE], "leave out groups that have lost data already"),
    ]);
    assert!(refused(|input| input.pools[0].code = "rs 0+3".into()).contains("rs 0+3"));
    assert!(refused(|input| input.pools[0].piece_bytes = vec![1, 2]).contains("pools[0].piece_bytes = 2 sizes"));
    let latent = |input: &mut DurabilityInput| {
        input.latent = Some(LatentInput {
            errors_per_byte_read: -1.0,
            errors_per_byte_second: 0.0,
            scrub_every_seconds: None,
            bytes_per_error: 512,
        });
    };
    assert!(refused(latent).contains("latent.errors_per_byte_read = -1"));
}
