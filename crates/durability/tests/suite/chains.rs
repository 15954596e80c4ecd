//! Chains and their exact answers.

use resilver_durability::rare::{Chain, ChainInput, FailureRate, RepairRate, run_batch};
use resilver_durability::{BatchSums, Method, Model};

/// A year of 365.25 days.
pub const YEAR: f64 = 365.25 * 86_400.0;
/// An hour.
pub const HOUR: f64 = 3600.0;

/// `pieces` pieces of which `needed` are enough, each failing by `rate`, and lost ones made anew all at once, each in `hours`.
pub fn parallel(pieces: u32, needed: u32, rate: f64, hours: f64, mission: f64) -> ChainInput {
    let lost = (pieces - needed + 1) as usize;
    ChainInput {
        mission_seconds: mission,
        damage: (0..=lost as u32).collect(),
        failures: (0..lost)
            .map(|state| FailureRate {
                from: state,
                to: state + 1,
                per_second: (pieces as usize - state) as f64 * rate,
                kind: 0,
            })
            .collect(),
        repairs: (1..lost)
            .map(|state| RepairRate {
                from: state,
                to: state - 1,
                per_second: state as f64 / (hours * HOUR),
                latent: 0.0,
            })
            .collect(),
    }
}

/// Three copies, of which nodes and disks fail by rates that are a thousand times apart, and the last copy's repair meets a latent error with
/// the probability `latent`. State: how many nodes are lost times 10, and how many disks; three of both together are loss.
pub fn nodes_and_disks(rate: f64, hours: f64, latent: f64, mission: f64) -> ChainInput {
    let states = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (3, 0)];
    let at = |nodes: u32, disks: u32| {
        if nodes + disks == 3 { 6 } else { states.iter().position(|&state| state == (nodes, disks)).unwrap() }
    };
    let (mut failures, mut repairs) = (Vec::new(), Vec::new());
    for (from, &(nodes, disks)) in states.iter().enumerate().take(6) {
        let left = f64::from(3 - nodes - disks);
        failures.push(FailureRate { from, to: at(nodes, disks + 1), per_second: left * rate, kind: 0 });
        failures.push(FailureRate { from, to: at(nodes + 1, disks), per_second: left * rate / 1000.0, kind: 1 });
        let latent = if nodes + disks == 2 { latent } else { 0.0 };
        if disks > 0 {
            let per_second = f64::from(disks) / (hours * HOUR);
            repairs.push(RepairRate { from, to: at(nodes, disks - 1), per_second, latent });
        }
        if nodes > 0 {
            let per_second = f64::from(nodes) / (10.0 * hours * HOUR);
            repairs.push(RepairRate { from, to: at(nodes - 1, disks), per_second, latent });
        }
    }
    let damage = states.iter().map(|&(nodes, disks)| nodes + disks).collect();
    ChainInput { mission_seconds: mission, damage, failures, repairs }
}

/// The probability of loss within the mission, by powers of a matrix of which no element is below zero, so that even the smallest
/// answer has nearly all its digits: exp(QT) = exp(QT / 2^k)^(2^k), with |Q|T / 2^k below 1/2, and the first factor by its
/// series around the matrix that stays (uniformisation).
pub fn exact(chain: &ChainInput) -> f64 {
    let states = chain.damage.len();
    let most = *chain.damage.iter().max().unwrap();
    let lost = states;
    let mut rates = vec![vec![0.0; states + 1]; states + 1];
    for failure in &chain.failures {
        let to = if chain.damage[failure.to] == most { lost } else { failure.to };
        rates[failure.from][to] += failure.per_second;
    }
    for repair in &chain.repairs {
        rates[repair.from][repair.to] += repair.per_second * (1.0 - repair.latent);
        rates[repair.from][lost] += repair.per_second * repair.latent;
    }
    let out: Vec<f64> = rates.iter().map(|row| row.iter().sum()).collect();
    let fastest = out.iter().fold(0.0, |most: f64, &rate| most.max(rate));
    let halvings = (fastest * chain.mission_seconds * 2.0).log2().ceil().max(0.0) as i32;
    let time = chain.mission_seconds / 2.0_f64.powi(halvings);
    // One jump of the uniformised chain.
    let mut jump = rates;
    for (state, row) in jump.iter_mut().enumerate() {
        row.iter_mut().for_each(|rate| *rate /= fastest);
        row[state] += 1.0 - out[state] / fastest;
    }
    let unit = |row: usize| (0..=states).map(|column| f64::from(row == column)).collect::<Vec<f64>>();
    let mut power: Vec<Vec<f64>> = (0..=states).map(unit).collect();
    let mut weight = (-fastest * time).exp();
    let mut whole = vec![vec![0.0; states + 1]; states + 1];
    for term in 1..30 {
        for (row, other) in whole.iter_mut().zip(&power) {
            row.iter_mut().zip(other).for_each(|(sum, value)| *sum += weight * value);
        }
        power = product(&power, &jump);
        weight *= fastest * time / f64::from(term);
    }
    for _ in 0..halvings {
        whole = product(&whole, &whole);
    }
    whole[0][lost]
}

fn product(left: &[Vec<f64>], right: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let columns = 0..right.len();
    let cell = |row: &Vec<f64>, column: usize| row.iter().zip(right).map(|(value, other)| value * other[column]).sum();
    left.iter().map(|row| columns.clone().map(|column| cell(row, column)).collect()).collect()
}

/// A batch that nobody stops.
pub fn batch<M: Model>(model: &M, method: Method, mission: f64, seed: u64, trajectories: u64) -> BatchSums {
    run_batch(model, method, mission, seed, 0, trajectories, &|_| true).unwrap().unwrap()
}

/// A batch of a chain.
pub fn chain_batch(chain: &ChainInput, method: Method, seed: u64, trajectories: u64) -> BatchSums {
    batch(&Chain::of(chain).unwrap(), method, chain.mission_seconds, seed, trajectories)
}

/// The estimate and its standard error.
pub fn estimate(sums: &BatchSums) -> (f64, f64) {
    mean_and_error(sums.trajectories, sums.loss, sums.loss_squared)
}

/// The mean of so many, and its standard error, from their sum and sum of squares.
pub fn mean_and_error(count: u64, sum: f64, squares: f64) -> (f64, f64) {
    let count = count as f64;
    let mean = sum / count;
    (mean, ((squares / count - mean * mean).max(0.0) / (count - 1.0)).sqrt())
}

/// Importance sampling: a failure comes with the probability 0.8, from the first step of damage on.
pub const PUSHED: Method = Method::Importance { push: 0.8, from: 1 };

#[test]
fn the_exact_answer_is_that_of_two_states_and_of_three() {
    // One piece of one: 1 - exp(-rt). Two of which one is enough, never repaired: (1 - exp(-rt))^2.
    let mut chain = parallel(1, 1, 1e-9, 1.0, 1e6);
    assert!((exact(&chain) / -(-1e-3_f64).exp_m1() - 1.0).abs() < 1e-12);
    chain = parallel(2, 1, 1e-9, 1.0, 1e6);
    chain.repairs.clear();
    assert!((exact(&chain) / (-1e-3_f64).exp_m1().powi(2) - 1.0).abs() < 1e-9);
}
