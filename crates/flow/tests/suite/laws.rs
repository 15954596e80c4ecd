//! What holds of max-min fair rates, whatever the system.

use proptest::prelude::*;
use resilver_flow::{Flow, FlowError, Flows, OWN_CAP, fair_rates};

use crate::systems::{System, is_near, system, twin, unfairness};

/// The rates and the bindings of a system's flows, in their order.
fn solved(system: &System) -> (Vec<f64>, Vec<u32>) {
    let (flows, rows) = system.build();
    let rates = fair_rates(&flows).unwrap();
    (rows.iter().map(|&row| rates.rates[row]).collect(), rows.iter().map(|&row| rates.binding[row]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_flow_has_its_cap_or_a_full_resource_on_which_its_level_is_the_largest(system in system()) {
        let (rates, binding) = solved(&system);
        prop_assert_eq!(unfairness(&system, &rates, &binding), None);
    }

    #[test]
    fn rates_are_those_of_the_plain_twin(system in system()) {
        let (rates, _) = solved(&system);
        for (flow, (one, other)) in rates.iter().zip(twin(&system)).enumerate() {
            prop_assert!(is_near(*one, other), "flow {flow}: {one} and {other}");
        }
    }

    #[test]
    fn capacities_and_caps_times_a_power_of_two_give_rates_times_it_exactly(system in system(), power in -20..20) {
        let factor = 2_f64.powi(power);
        let mut other = system.clone();
        other.capacities.iter_mut().for_each(|capacity| *capacity *= factor);
        other.flows.iter_mut().for_each(|(_, flow)| flow.cap *= factor);
        let (rates, binding) = solved(&system);
        let scaled: Vec<f64> = rates.iter().map(|rate| rate * factor).collect();
        prop_assert_eq!(solved(&other), (scaled, binding));
    }

    #[test]
    fn rates_do_not_depend_on_the_order_of_flows_or_resources(system in system()) {
        let mut other = system.clone();
        let last = system.capacities.len() as u32 - 1;
        other.capacities.reverse();
        other.flows.reverse();
        for (way, _) in &mut other.flows {
            way.iter_mut().for_each(|(resource, _)| *resource = last - *resource);
            way.reverse();
        }
        let (rates, _) = solved(&system);
        let (turned, _) = solved(&other);
        for (one, other) in rates.iter().zip(turned.iter().rev()) {
            prop_assert!(is_near(*one, *other), "{one} and {other}");
        }
    }

    #[test]
    fn a_flow_counted_n_times_is_n_flows(system in system()) {
        let apart = |(way, flow): &(Vec<(u32, f64)>, Flow)| {
            vec![(way.clone(), Flow { count: 1, ..*flow }); flow.count as usize]
        };
        let singly = System { flows: system.flows.iter().flat_map(apart).collect(), ..system.clone() };
        let (rates, _) = solved(&system);
        let counted: Vec<f64> = system.flows.iter().zip(rates)
            .flat_map(|((_, flow), rate)| vec![rate; flow.count as usize])
            .collect();
        for (one, other) in solved(&singly).0.iter().zip(counted) {
            prop_assert!(is_near(*one, other), "{one} and {other}");
        }
    }
}

#[test]
fn the_example_of_the_book_is_filled_level_by_level() {
    // Bertsekas and Gallager, figure 6.10's kind: link 0 of 1 carries flows 0 to 3, which get 1/4 each; link 1 of 1 carries flow 3 and 4,
    // so that flow 4 gets the 3/4 that are left; link 2 of 2 carries flow 4 and 5, and flow 5 gets 5/4.
    let ways: [&[(u32, f64)]; 6] =
        [&[(0, 1.0)], &[(0, 1.0)], &[(0, 1.0)], &[(0, 1.0), (1, 1.0)], &[(1, 1.0), (2, 1.0)], &[(2, 1.0)]];
    let mut flows = Flows::new(vec![1.0, 1.0, 2.0]).unwrap();
    let rows: Vec<u32> = ways.iter().map(|way| flows.add(way, Flow::default()).unwrap()).collect();
    // The first three are equal, and one row.
    assert_eq!(rows, [0, 0, 0, 1, 2, 3]);
    let rates = fair_rates(&flows).unwrap();
    assert_eq!(rates.rates, [0.25, 0.25, 0.75, 1.25]);
    assert_eq!(rates.binding, [0, 0, 1, 2]);
    assert_eq!(rates.used, [1.0, 1.0, 2.0]);
}

#[test]
fn costs_weights_and_caps_count() {
    // A disk gives 1 s/s. A sequential byte costs 1 ns, a random one 4 ns; the first flow weighs 2, and the third asks for 0.1 GB/s at 1 ns.
    // 0.9 s/s are left for 2 w x 1 ns + w x 4 ns = 6 w ns: w = 0.15 GB/s.
    let mut flows = Flows::new(vec![1.0]).unwrap();
    let (sequential, random) = ([(0, 1e-9)], [(0, 4e-9)]);
    flows.add(&sequential, Flow { weight: 2.0, ..Flow::default() }).unwrap();
    flows.add(&random, Flow::default()).unwrap();
    flows.add(&sequential, Flow { cap: 0.1e9, ..Flow::default() }).unwrap();
    let rates = fair_rates(&flows).unwrap();
    for (rate, expected) in rates.rates.iter().zip([0.3e9, 0.15e9, 0.1e9]) {
        assert!(is_near(*rate, expected), "{rate} and {expected}");
    }
    assert_eq!(rates.binding, [0, 0, OWN_CAP]);
}

#[test]
fn one_resource_met_twice_costs_twice() {
    let mut flows = Flows::new(vec![1.0]).unwrap();
    flows.add(&[(0, 1.0), (0, 3.0)], Flow::default()).unwrap();
    assert_eq!(fair_rates(&flows).unwrap().rates, [0.25]);
}

#[test]
fn light_flows_are_fair_after_heavy_ones_have_stopped() {
    // A flow of weight 1e15 stops at its cap, 1/2. What the light one still takes at level 1 is below the rounding of what both did; it gets the
    // other half all the same.
    let mut flows = Flows::new(vec![1.0]).unwrap();
    flows.add(&[(0, 1.0)], Flow { weight: 1e15, cap: 0.5, count: 1 }).unwrap();
    flows.add(&[(0, 1.0)], Flow { weight: 0.3, ..Flow::default() }).unwrap();
    assert_eq!(fair_rates(&flows).unwrap().rates, [0.5, 0.5]);
}

#[test]
fn what_means_nothing_is_refused_by_name() {
    let flow = Flow::default();
    let refused =
        |way: &[(u32, f64)], flow: Flow| Flows::new(vec![1.0]).unwrap().add(way, flow).unwrap_err().to_string();
    assert!(refused(&[(1, 1.0)], flow).starts_with("resources: flow 0 uses resource 1, and there are 1"));
    for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(&[(0, cost)], flow).starts_with("costs: flow 0 has"));
    }
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(&[(0, 1.0)], Flow { weight, ..flow }).starts_with("weights: flow 0 has"));
    }
    for cap in [-1.0, f64::NAN] {
        assert!(refused(&[(0, 1.0)], Flow { cap, ..flow }).starts_with("caps: flow 0 has"));
    }
    assert!(refused(&[(0, 1.0)], Flow { count: 0, ..flow }).starts_with("counts: flow 0 has 0"));
    assert_eq!(Flows::new(vec![1.0]).unwrap().add(&[], flow), Err(FlowError::Unbounded { flow: 0 }));
    for capacity in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(Flows::new(vec![1.0, capacity]).unwrap_err().to_string().starts_with("capacities[1] = "));
    }
}

#[test]
fn numbers_too_far_apart_are_refused() {
    let mut flows = Flows::new(vec![1e300]).unwrap();
    flows.add(&[(0, 1e-300)], Flow::default()).unwrap();
    assert_eq!(fair_rates(&flows), Err(FlowError::NotFinite { flow: 0 }));
    let mut flows = Flows::new(vec![1.0]).unwrap();
    flows.add(&[(0, 1e200)], Flow { weight: 1e200, ..Flow::default() }).unwrap();
    assert_eq!(fair_rates(&flows), Err(FlowError::NotFinite { flow: 0 }));
}
