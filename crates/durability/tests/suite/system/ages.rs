//! Devices that fail by age.

use resilver_durability::Model;
use resilver_durability::input::{LawInput, SpeedInput, TimeInput};
use resilver_durability::system::StorageSystem;

use super::{draws, drive, one_group};

/// Times from one failure to the next of one device under a Weibull law of scale 1,000 s, whole again after 1 s: mean and how many.
fn between(shape: f64, age: f64, mission: f64, trajectories: u64, first_only: bool) -> (f64, u64) {
    let speed = SpeedInput::Parallel { takes: TimeInput::Fixed { seconds: 1.0 } };
    let mut input = one_group("copies 1", 1, 1.0, mission, speed);
    input.failures[0].law = LawInput::Weibull { shape, scale_seconds: 1000.0, age_seconds: vec![age] };
    let mut model = StorageSystem::new(&input).unwrap();
    let (mut sum, mut count) = (0.0, 0);
    for trajectory in 0..trajectories {
        let mut last = 0.0;
        drive(&mut model, mission, &mut draws(5, trajectory), |at, _| {
            sum += at - last;
            count += 1;
            last = at + 1.0;
            first_only
        });
    }
    (sum / count as f64, count)
}

// Rule: the mean of a Weibull law is scale x Gamma(1 + 1 / shape), and of a device that is replaced each time that of all its lives. Of 20,000
// first lives the mean's standard error is scale x sqrt(Gamma(1 + 2/k) - Gamma(1 + 1/k)^2) / sqrt(20,000); the band is 4 of them. Gamma(1 + 1/k)
// is 1.265824 (k = 0.7), 0.959339 (1.12), 0.892980 (3); the standard deviations 1.851171, 0.858034, 0.324550.
#[test]
fn lives_are_as_long_as_the_law_says() {
    for (shape, mean, deviation) in [(0.7, 1.265824, 1.851171), (1.12, 0.959339, 0.858034), (3.0, 0.892980, 0.324550)] {
        let (found, count) = between(shape, 0.0, 1e5, 20_000, true);
        assert_eq!(count, 20_000);
        let band = 4.0 * 1000.0 * deviation / f64::sqrt(20_000.0);
        assert!((found - 1000.0 * mean).abs() < band, "{shape}: {found}, not {}", 1000.0 * mean);
        // One life after the other: so many in a long time. What is cut off at the end makes the rest shorter by less than a life in 1,000.
        let (found, count) = between(shape, 0.0, 1e6, 20, false);
        let band = 4.0 * 1000.0 * deviation / (count as f64).sqrt() + 3.0;
        assert!((found - 1000.0 * mean).abs() < band, "{shape}: {found} of {count}");
    }
}

#[test]
fn the_old_fail_by_what_is_left_of_them() {
    // Aged 2,000 s of shape 2 and scale 1,000: no failure within 200 s with probability exp(4 - 2.2^2) = exp(-0.84) = 0.431711.
    let (_, count) = between(2.0, 2000.0, 200.0, 20_000, true);
    // Standard deviation sqrt(20,000 x 0.4317 x 0.5683) = 70; 4 of them.
    let wanted = 20_000.0 * (1.0 - 0.431711);
    assert!((count as f64 - wanted).abs() < 280.0, "{count}, not {wanted}");
}

#[test]
fn expected_failures_are_those_that_come() {
    // 30 devices of different ages under a shape of 3: the integral over 100 s against 20,000 missions of 100 s, none of which fails twice to speak of.
    let speed = SpeedInput::Parallel { takes: TimeInput::Fixed { seconds: 1e6 } };
    let mut input = one_group("rs 15+15", 30, 1.0, 100.0, speed);
    let age_seconds: Vec<f64> = (0..30).map(|device| 20.0 * f64::from(device)).collect();
    let old = |age: f64| (((age + 100.0) / 1000.0).powi(3)) - (age / 1000.0).powi(3);
    let expected: f64 = age_seconds.iter().map(|&age| old(age)).sum();
    input.failures[0].law = LawInput::Weibull { shape: 3.0, scale_seconds: 1000.0, age_seconds: age_seconds.clone() };
    let mut model = StorageSystem::new(&input).unwrap();
    model.reset(&mut draws(6, 0));
    assert!((model.expected_failures(0, 100.0) / expected - 1.0).abs() < 1e-12);
    assert_eq!(model.expected_failures(1, 100.0), 0.0);
    // A device fails with probability 1 - exp(-its integral), and stays lost.
    let failing: f64 = age_seconds.iter().map(|&age| 1.0 - (-old(age)).exp()).sum();
    let mut devices = 0.0;
    for trajectory in 0..4_000 {
        drive(&mut model, 100.0, &mut draws(6, trajectory), |_, _| true);
        devices += model.damage() * 16.0;
    }
    // Standard deviation below sqrt(4,000 x 1.6) = 80; 4 of them.
    assert!(
        (devices - 4_000.0 * failing).abs() < 4.0 * (4_000.0 * failing).sqrt(),
        "{devices} of {}",
        4_000.0 * failing
    );
}
