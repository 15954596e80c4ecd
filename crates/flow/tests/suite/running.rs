//! Flows that begin and end one by one have the rates of all that run, solved at once.

use proptest::prelude::*;
use resilver_flow::{Flow, RunningFlows};

use crate::systems::{System, is_near, system, twin, unfairness};

/// Rates of those that run, by number, beside those of the whole solution.
fn compare(system: &System, running: &RunningFlows, numbers: &[u32]) -> Result<(), TestCaseError> {
    let rates: Vec<f64> = numbers.iter().map(|&number| running.rate(number)).collect();
    let binding: Vec<u32> = numbers.iter().map(|&number| running.binding(number)).collect();
    for (one, other) in rates.iter().zip(twin(system)) {
        prop_assert!(is_near(*one, other), "{one} and {other}");
    }
    prop_assert_eq!(unfairness(system, &rates, &binding), None);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn rates_are_those_of_the_whole_after_every_event(
        system in system(),
        ends in prop::collection::vec((0_usize..60, any::<bool>()), 60),
        caps in prop::collection::vec((0_usize..60, 0.0..10.0), 60),
    ) {
        let mut running = RunningFlows::new(system.capacities.clone()).unwrap();
        let mut now = System { flows: Vec::new(), ..system.clone() };
        let mut numbers: Vec<u32> = Vec::new();
        for (((way, flow), (which, does_end)), (whose, cap)) in system.flows.iter().zip(ends).zip(caps) {
            numbers.push(running.begin(way, *flow).unwrap());
            now.flows.push((way.clone(), *flow));
            running.settle().unwrap();
            compare(&now, &running, &numbers)?;
            // Often two events at one time: a flow ends, and another asks for more or less than before.
            if does_end {
                let which = which % numbers.len();
                running.end(numbers.swap_remove(which));
                now.flows.swap_remove(which);
            }
            if !numbers.is_empty() {
                let whose = whose % numbers.len();
                running.set_cap(numbers[whose], cap).unwrap();
                now.flows[whose].1.cap = cap;
            }
            running.settle().unwrap();
            compare(&now, &running, &numbers)?;
        }
    }
}

#[test]
fn a_flow_that_ends_leaves_flows_elsewhere_alone() {
    // Two links with two flows each: what ends on one concerns only the other flow there, which then has all of it.
    let mut running = RunningFlows::new(vec![1.0, 1.0]).unwrap();
    let numbers = [0, 0, 1, 1].map(|link| running.begin(&[(link, 1.0)], Flow::default()).unwrap());
    assert_eq!(running.settle().unwrap().len(), 4);
    running.end(numbers[0]);
    assert_eq!(running.settle().unwrap(), [numbers[1]]);
    assert_eq!(numbers[1..].iter().map(|&number| running.rate(number)).collect::<Vec<f64>>(), [1.0, 0.5, 0.5]);
}

#[test]
fn what_has_begun_and_ended_at_one_time_was_never_there() {
    let mut running = RunningFlows::new(vec![1.0]).unwrap();
    let stays = running.begin(&[(0, 1.0)], Flow::default()).unwrap();
    let goes = running.begin(&[(0, 1.0)], Flow::default()).unwrap();
    running.end(goes);
    assert_eq!(running.settle().unwrap(), [stays]);
    assert_eq!(running.rate(stays), 1.0);
}
