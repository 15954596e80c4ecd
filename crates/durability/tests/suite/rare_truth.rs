//! Estimates against the exact answers of chains.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::ThreadPoolBuilder;
use resilver_durability::Method;
use resilver_durability::rare::{Chain, ChainInput, run_batch};

use crate::chains::{HOUR, PUSHED, YEAR, chain_batch, estimate, exact, nodes_and_disks, parallel};

/// Chains from rare to very rare; one of kinds that are a thousand times apart, one whose repairs meet latent errors, and one that is
/// busy again and again: 100 failures a mission.
fn chains() -> Vec<(&'static str, ChainInput)> {
    let afr = 0.0136 / YEAR;
    vec![
        ("rs 8+3, ten hours, a year", parallel(11, 8, afr, 10.0, YEAR)),
        ("rs 4+2, a week, ten years", parallel(6, 4, 5.0 * afr, 168.0, 10.0 * YEAR)),
        ("three copies, nodes and disks", nodes_and_disks(afr, 10.0, 0.0, YEAR)),
        ("three copies with latent errors", nodes_and_disks(afr, 10.0, 1e-4, YEAR)),
        ("40 pieces, 100 failures a mission", parallel(40, 36, 1.0 / (400.0 * HOUR), 1.0, 1000.0 * HOUR)),
    ]
}

/// What the estimates of some seeds came to.
struct Seeds {
    count: u64,
    /// How many were further than three of their own standard errors from the exact answer.
    outside: usize,
    /// Their mean over the exact answer, and its standard error by how they differ.
    mean: f64,
    error: f64,
    /// The mean of the variances that they told, over the variance that they had.
    told: f64,
}

/// 50 seeds from 0 on; `RESILVER_SEEDS` sets how many, `RESILVER_SEED` the first.
fn of_seeds(chain: &ChainInput, method: Method, trajectories: u64) -> Seeds {
    let number = |name, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (first, count): (u64, u64) = (number("RESILVER_SEED", 0), number("RESILVER_SEEDS", 50));
    let exact = exact(chain);
    let found: Vec<(f64, f64)> = (first..first + count)
        .map(|seed| estimate(&chain_batch(chain, method, seed, trajectories)))
        .map(|(value, error)| (value / exact, error / exact))
        .collect();
    let all = count as f64;
    let mean = found.iter().map(|(value, _)| value).sum::<f64>() / all;
    let variance = found.iter().map(|(value, _)| (value - mean).powi(2)).sum::<f64>() / (all - 1.0);
    Seeds {
        count,
        outside: found.iter().filter(|(value, error)| (value - 1.0).abs() > 3.0 * error).count(),
        mean,
        error: (variance / all).sqrt(),
        told: found.iter().map(|(_, error)| error * error).sum::<f64>() / all / variance,
    }
}

/// Of 200 true estimates 0.54 are outside three errors on average, and more than five once in 50,000 draws; of 50, more than two once
/// in 2,700. The mean of all is outside four of its errors once in 16,000. The variance of n has a relative standard deviation of sqrt(2 / (n - 1)), 0.1 of 200:
/// five of them, a factor of 1.65, are left once in 100,000 draws.
fn hold(name: &str, seeds: &Seeds) {
    let Seeds { count, outside, mean, error, told } = *seeds;
    println!("{name}: {outside} outside, mean {mean:.4} +- {error:.4}, told {told:.2}");
    assert!(outside as u64 <= 2 + count / 60, "{name}: {outside} of {count} are outside of three standard errors");
    assert!((mean - 1.0).abs() < 4.0 * error, "{name}: mean {mean} +- {error} of the exact answer");
    let far = 5.0 * (2.0 / (count - 1) as f64).sqrt();
    assert!(told.ln().abs() < far, "{name}: the variance told is {told} of what it is");
}

#[test]
fn importance_sampling_is_right_down_to_1e_13() {
    for (name, chain) in chains() {
        // So many that errors are some percent; a mission of 100 failures has 50 futures.
        let trajectories = match name {
            "40 pieces, 100 failures a mission" => 800,
            "rs 8+3, ten hours, a year" | "three copies, nodes and disks" => 15_000,
            _ => 5_000,
        };
        hold(name, &of_seeds(&chain, PUSHED, trajectories));
    }
}

#[test]
fn splitting_is_right() {
    for (name, chain) in chains() {
        // About 1 / (the chance of a step), so that one copy in each split goes a step further.
        let copies = match name {
            "rs 4+2, a week, ten years" => 100,
            "40 pieces, 100 failures a mission" => 8,
            _ => continue,
        };
        hold(name, &of_seeds(&chain, Method::Splitting { copies, from: 1 }, 200));
    }
}

#[test]
fn futures_may_stand_in_from_any_step_of_damage() {
    // From the second, where calm has failures of its own; of a chain, idle is the first.
    let chain = parallel(40, 36, 1.0 / (400.0 * HOUR), 1.0, 1000.0 * HOUR);
    let from = |from| chain_batch(&chain, Method::Importance { push: 0.8, from }, 1, 20).loss;
    assert_eq!(from(0), from(1));
    hold("importance", &of_seeds(&chain, Method::Importance { push: 0.8, from: 2 }, 2_000));
    let (value, error) = estimate(&chain_batch(&chain, Method::Splitting { copies: 8, from: 2 }, 1, 30_000));
    assert!((value - exact(&chain)).abs() < 4.0 * error && error < 0.05 * value, "{value} +- {error}");
}

#[test]
fn a_loss_that_is_likely_is_right_as_well() {
    // 0.6 of the missions lose data, some many times: what counts is the first of each, and bytes count every time. With
    // two pieces of two and no repair, losses come at the rate 2r, so 2rT are expected.
    let chain = parallel(2, 2, 1.0 / YEAR, 1.0, YEAR / 2.0);
    let wanted = 1.0 - (-1.0_f64).exp();
    for method in [Method::Plain, PUSHED, Method::Splitting { copies: 3, from: 1 }] {
        let sums = chain_batch(&chain, method, 1, 100_000);
        let (value, error) = estimate(&sums);
        assert!((value - wanted).abs() < 4.0 * error && error < 0.005, "{method:?}: {value} +- {error}");
        let (bytes, error) = crate::chains::mean_and_error(sums.trajectories, sums.bytes, sums.bytes_squared);
        // With futures that begin once a mission each mission expects just one.
        assert!((bytes - 1.0).abs() <= 4.0 * error && error < 0.006, "{method:?}: {bytes} +- {error}");
    }
}

#[test]
fn a_million_trajectories_know_1e_12_to_five_percent() {
    let chain = parallel(11, 8, 0.0136 / YEAR, 20.0, YEAR);
    let exact = exact(&chain);
    assert!(exact < 1e-12);
    for push in [0.5, 0.8] {
        let (value, error) = estimate(&chain_batch(&chain, Method::Importance { push, from: 1 }, 1, 1_000_000));
        assert!(error < 0.05 * value && (value - exact).abs() < 4.0 * error, "{value} +- {error}, not {exact}");
    }
}

#[test]
fn importance_sampling_and_splitting_agree_on_when_and_by_what() {
    // Each tenth of the mission has a tenth of the losses, but for the first, before which all is whole; nearly all
    // losses are by disks. Each within four standard errors, of which there are 3 x 10 (0.2 % of false alarms).
    let chain = nodes_and_disks(20.0 * 0.0136 / YEAR, 100.0, 0.0, YEAR);
    let whole = exact(&chain);
    for method in [PUSHED, Method::Splitting { copies: 50, from: 1 }] {
        let sums = chain_batch(&chain, method, 3, 40_000);
        let mut until = 0.0;
        for part in 0..50 {
            until += sums.loss_by_time[part];
            if part % 5 != 4 {
                continue;
            }
            let so_far = ChainInput { mission_seconds: YEAR * (part + 1) as f64 / 50.0, ..chain.clone() };
            let squares = sums.loss_by_time_squared[part];
            let (value, error) = crate::chains::mean_and_error(sums.trajectories, until, squares);
            assert!((value - exact(&so_far)).abs() < 4.0 * error, "{method:?} {part}: {value} +- {error}");
        }
        let all: f64 = sums.loss_by_cause.iter().sum();
        assert!((all / sums.loss - 1.0).abs() < 1e-9 && sums.loss_by_cause[2] == 0.0);
        let (value, error) = estimate(&sums);
        assert!(error < 0.05 * value && (value - whole).abs() < 4.0 * error);
    }
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let chain = parallel(40, 36, 1.0 / (400.0 * HOUR), 1.0, 1000.0 * HOUR);
    for method in [Method::Plain, PUSHED, Method::Splitting { copies: 4, from: 1 }] {
        let on = |threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| chain_batch(&chain, method, 5, 3_000))
        };
        let one = on(1);
        assert_eq!(one, on(2));
        // Other seeds draw other things.
        assert_ne!(one.digest, chain_batch(&chain, method, 6, 3_000).digest);
    }
}

#[test]
fn a_batch_that_is_stopped_says_nothing() {
    let chain = Chain::of(&parallel(40, 36, 1.0 / (400.0 * HOUR), 1.0, 1000.0 * HOUR)).unwrap();
    let ended = AtomicU64::new(0);
    let keep_going = |more| ended.fetch_add(more, Ordering::Relaxed) < 1_000;
    let found = run_batch(&chain, Method::Plain, chain.mission_seconds(), 1, 0, 1_000_000, &keep_going).unwrap();
    // Each of some threads ends at most one trajectory more.
    assert!(found.is_none() && ended.load(Ordering::Relaxed) < 1_100);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let chain = parallel(2, 1, 1e-9, 1.0, YEAR);
    let model = Chain::of(&chain).unwrap();
    let refused = |method, mission, count, text: &str| {
        let error = run_batch(&model, method, mission, 1, 0, count, &|_| true).unwrap_err().to_string();
        assert!(error.starts_with(text), "{error}");
    };
    refused(Method::Plain, 0.0, 1, "mission_seconds = 0: a mission takes some time");
    refused(Method::Plain, YEAR, 0, "trajectories = 0: one at least");
    refused(Method::Importance { push: 1.0, from: 1 }, YEAR, 1, "method.push = 1: a probability between 0 and 1");
    refused(Method::Splitting { copies: 0, from: 1 }, YEAR, 1, "method.copies = 0: ");
    let broken = |change: &dyn Fn(&mut ChainInput), text: &str| {
        let mut input = chain.clone();
        change(&mut input);
        let error = Chain::of(&input).unwrap_err().to_string();
        assert!(error.starts_with(text), "{error}");
    };
    broken(&|input| input.failures[1].to = 3, "failures[1].to = 3: a state of the chain");
    broken(&|input| input.failures[0].per_second = f64::INFINITY, "failures[0].per_second = inf: a rate is finite");
    broken(&|input| input.repairs[0].per_second = -1.0, "repairs[0].per_second = -1: a rate is finite");
    broken(&|input| input.repairs[0].latent = 2.0, "repairs[0].latent = 2: a probability");
    broken(&|input| input.repairs[0].to = 2, "repairs[0].to = 2: a repair does not lead to loss");
    broken(&|input| input.damage[0] = 1, "damage = [1, 1, 2]: state 0 has no damage");
}
