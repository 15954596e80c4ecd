//! Small systems against the chains that they are.

use resilver_durability::input::{Returns, SpeedInput, TimeInput};

use super::{one_group, share_lost};

/// The probability that a chain which begins in state 0 is in its last one by a time: `up[i]` leads from state i to the next, `down[i]` back to state i.
///
/// By uniformisation: steps come at the largest rate of all, and their number is Poisson distributed.
fn absorbed(up: &[f64], down: &[f64], time: f64) -> f64 {
    let rate = (0..up.len()).map(|state| up[state] + if state > 0 { down[state - 1] } else { 0.0 }).fold(0.0, f64::max);
    let mut states = vec![0.0; up.len() + 1];
    states[0] = 1.0;
    let (mut weight, mut found) = ((-rate * time).exp(), 0.0);
    for step in 1..2_000 {
        found += weight * states[up.len()];
        let before = states.clone();
        for state in 0..up.len() {
            let (ahead, back) = (up[state] / rate, if state > 0 { down[state - 1] / rate } else { 0.0 });
            states[state + 1] += before[state] * ahead;
            states[state] -= before[state] * (ahead + back);
            if state > 0 {
                states[state - 1] += before[state] * back;
            }
        }
        weight *= rate * time / f64::from(step);
    }
    found
}

/// A repair that takes an exponential time.
fn exponential(mean: f64) -> TimeInput {
    TimeInput::Exponential { mean_seconds: mean }
}

// Rules: four devices under rs 2+2 that fail at rate 0.1 each. One lost of four: 0.4; then 0.3; then 0.2 is the end. Each band is 4 standard errors,
// left by chance once in 16,000 runs, of which the seed is fixed.
#[test]
fn repair_in_parallel_is_the_chain_of_parallel_repair() {
    let speed = SpeedInput::Parallel { takes: exponential(1.0) };
    let (share, error) = share_lost(&one_group("rs 2+2", 4, 0.1, 20.0, speed), 40_000, 1);
    // Two are repaired at once twice as fast as one.
    let exact = absorbed(&[0.4, 0.3, 0.2], &[1.0, 2.0], 20.0);
    assert!((share - exact).abs() < 4.0 * error, "{share} +- {error}, not {exact}");
}

#[test]
fn repair_one_after_the_other_is_the_chain_of_serial_repair() {
    let speed = SpeedInput::Serial { takes: exponential(1.0), crews: Some(1) };
    let (share, error) = share_lost(&one_group("rs 2+2", 4, 0.1, 20.0, speed), 40_000, 2);
    let exact = absorbed(&[0.4, 0.3, 0.2], &[1.0, 1.0], 20.0);
    assert!((share - exact).abs() < 4.0 * error, "{share} +- {error}, not {exact}");
}

#[test]
fn repair_by_how_many_are_lost_goes_on_at_the_speed_of_their_number() {
    let speed = SpeedInput::ByLost { takes: vec![exponential(1.0), exponential(0.4)] };
    let (share, error) = share_lost(&one_group("rs 2+2", 4, 0.1, 20.0, speed), 40_000, 3);
    // Each of two is made whole at 1 / 0.4 a second, whatever was done of it when it was alone.
    let exact = absorbed(&[0.4, 0.3, 0.2], &[1.0, 5.0], 20.0);
    assert!((share - exact).abs() < 4.0 * error, "{share} +- {error}, not {exact}");
}

#[test]
fn one_group_that_comes_back_within_its_repair_comes_back_sooner() {
    // Evenly over a repair of exponential time of mean 1: a group is back after U E, and so at no constant rate. Of two devices of copies 2, one
    // lost, data is lost if the other fails within U E: 1 - E[exp(-0.1 U E)] = 1 - ln(1.1) / 0.1 = 0.046898 each time one of two fails.
    let speed = SpeedInput::Parallel { takes: exponential(1.0) };
    let mut input = one_group("copies 2", 2, 0.1, 4.0, speed);
    input.repair.returns = Returns::Groups;
    let (share, error) = share_lost(&input, 100_000, 4);
    // The device that is whole but for its group's piece being back counts as lost until its repair ends, so that one failure at a time is possible:
    // busy periods of mean 1 alternate with times of mean 1 / 0.2, in which a period ends in loss with probability q. With the short
    // mission the first period alone is nearly all there is: bounds by q x (expected periods begun), less those cut off by the end.
    let q = 1.0 - 1.1_f64.ln() / 0.1;
    let begun = 4.0 * 0.2;
    assert!(share < q * begun + 4.0 * error && share > q * begun * 0.7, "{share} +- {error} of {}", q * begun);
}
