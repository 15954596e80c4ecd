//! What must not change when something does: the promises that CRUSH makes.

use std::collections::BTreeSet;

use proptest::prelude::*;
use resilver_crush::{BucketKind, Choose, CrushMap, Level, NONE, Rule, Scratch, Step, Tunables};

/// Devices of each input from 0, `copies` each.
fn placements(map: &CrushMap, copies: usize, reweight: &[u32], inputs: u32) -> Vec<Vec<i32>> {
    placements_by(map, map.rule_by_id(0).unwrap(), copies, reweight, inputs)
}

/// The same by a rule that the map need not hold.
fn placements_by(map: &CrushMap, rule: &Rule, copies: usize, reweight: &[u32], inputs: u32) -> Vec<Vec<i32>> {
    let mut scratch = Scratch::new();
    let place = |x| {
        let mut devices = Vec::new();
        map.place(rule, x, copies, reweight, &mut scratch, &mut devices);
        devices
    };
    (0..inputs).map(place).collect()
}

/// The map's rule with other steps than take and emit, and for another kind of pool.
fn rule_of(map: &CrushMap, pool_kind: u8, steps: &[Step]) -> Rule {
    let own = &map.rules()[0];
    let steps = [&[own.steps[0]], steps, &[Step::Emit]].concat();
    Rule { pool_kind, steps, ..own.clone() }
}

/// `chooseleaf indep 0 type TYPE`.
fn leaf_indep(type_id: i32) -> Step {
    Step::Choose(Choose { firstn: false, leaf: true, count: 0, type_id })
}

const KINDS: [BucketKind; 6] =
    [BucketKind::Uniform, BucketKind::List, BucketKind::Tree, BucketKind::Straw, BucketKind::Straw2, BucketKind::Vring];

/// A map of one straw2 bucket with these weights.
fn straw2_of(weights: &[f64]) -> CrushMap {
    let mut text = String::from("type 0 osd\ntype 1 root\n");
    let devices: String = (0..weights.len()).map(|device| format!("device {device} osd.{device}\n")).collect();
    text += &devices;
    text += "root default { id -1 alg straw2 hash 0\n";
    let items: String =
        weights.iter().enumerate().map(|(device, weight)| format!("item osd.{device} weight {weight}\n")).collect();
    text += &items;
    text += "}\nrule data { id 0 type replicated step take default step choose firstn 0 type osd step emit }\n";
    CrushMap::from_text(&text).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    // Rule: changing one straw2 weight moves data only to that item (it grew) or only from it (it shrank).
    #[test]
    fn one_weight_moves_only_its_own_data(
        weights in prop::collection::vec(0.1f64..10.0, 2..40), index in any::<prop::sample::Index>(), factor in 0.1f64..4.0
    ) {
        let changed = index.index(weights.len());
        let mut after = weights.clone();
        after[changed] *= factor;
        let pairs = placements(&straw2_of(&weights), 1, &[], 2_000)
            .into_iter()
            .zip(placements(&straw2_of(&after), 1, &[], 2_000));
        for (before, after) in pairs {
            if before != after {
                let gained = after == [changed as i32];
                let lost = before == [changed as i32];
                prop_assert!(if factor > 1.0 { gained } else { lost }, "{before:?} -> {after:?}");
            }
        }
    }

    // Rule: an item added to a straw2 bucket takes data only to itself; the same read backwards, one removed gives up only what
    // it had.
    #[test]
    fn one_item_more_takes_only_to_itself(weights in prop::collection::vec(0.1f64..10.0, 2..40)) {
        let added = weights.len() as i32 - 1;
        let before = placements(&straw2_of(&weights[..weights.len() - 1]), 1, &[], 2_000);
        for (before, after) in before.iter().zip(placements(&straw2_of(&weights), 1, &[], 2_000)) {
            prop_assert!(*before == after || after == [added], "{before:?} -> {after:?}");
        }
    }

    // Rule: in an indep rule, every position that its first attempt fills keeps its device when another device goes out,
    // whatever the kind of bucket. Draws do not depend on reweights, and positions before it that meet the out device give up
    // places and take none at the first attempt. (Later attempts may take what the out device's position gave up.)
    #[test]
    fn indep_keeps_positions(
        kind in prop::sample::select(KINDS.to_vec()), profile in prop::sample::select(vec!["argonaut", "firefly", "jewel"]),
        racks in 3u32..12, share in 1u32..5, copies in 2usize..8, out: prop::sample::Index,
    ) {
        let tunables = Tunables::profile(profile).unwrap();
        let map = CrushMap::hierarchical(racks * share, racks, None, kind, tunables, Level::Rack).unwrap();
        let out = out.index((racks * share) as usize);
        let mut reweight = vec![0x1_0000; (racks * share) as usize];
        reweight[out] = 0;
        let rule = rule_of(&map, 3, &[leaf_indep(1)]);
        let once = rule_of(&map, 3, &[Step::SetChooseTries(1), leaf_indep(1)]);
        let first = placements_by(&map, &once, copies, &[], 300);
        let before = placements_by(&map, &rule, copies, &[], 300);
        let after = placements_by(&map, &rule, copies, &reweight, 300);
        for ((first, before), after) in first.iter().zip(&before).zip(&after) {
            prop_assert_eq!(after.len(), copies);
            prop_assert!(!after.contains(&(out as i32)));
            for position in (0..copies).filter(|&position| first[position] != NONE) {
                prop_assert_eq!(first[position], before[position]);
                if before[position] != out as i32 {
                    prop_assert_eq!(before[position], after[position], "{:?} -> {:?}", before, after);
                }
            }
        }
    }

    // Rule: no two copies share a failure domain, whatever the kind of bucket, the mode, the tunables and the reweights.
    #[test]
    fn copies_are_in_different_racks(
        kind in prop::sample::select(KINDS.to_vec()),
        profile in prop::sample::select(vec!["argonaut", "bobtail", "firefly", "hammer", "jewel"]),
        racks in 1u32..9,
        share in 1u32..6,
        out in prop::collection::vec(0u32..0x1_8000, 0..40),
    ) {
        let tunables = Tunables::profile(profile).unwrap();
        let map = CrushMap::hierarchical(racks * share, racks, None, kind, tunables, Level::Rack).unwrap();
        let msr = [Step::ChooseMsr { count: 0, type_id: 1 }, Step::ChooseMsr { count: 1, type_id: 0 }];
        let rules = [
            map.rules()[0].clone(),
            rule_of(&map, 3, &[leaf_indep(1)]),
            rule_of(&map, 4, &msr),
            rule_of(&map, 5, &msr),
        ];
        for mut devices in rules.iter().flat_map(|rule| placements_by(&map, rule, 3, &out, 60)) {
            devices.retain(|&device| device != NONE);
            let domains: BTreeSet<_> = devices.iter().map(|&device| map.ancestor(device, "rack").unwrap()).collect();
            prop_assert_eq!(domains.len(), devices.len());
            for &device in &devices {
                prop_assert!(out.get(device as usize).is_none_or(|&weight| weight > 0), "device {} is out", device);
            }
        }
    }

    // Rule: text of any kind gives a map or an error, never a panic.
    #[test]
    fn any_text_is_survived(words in prop::collection::vec(prop::sample::select(vec![
        "type", "device", "root", "0", "1", "-1", "osd", "{", "}", "id", "alg", "straw2", "tree", "item", "weight", "1e9",
        "nan", "rule", "step", "take", "choose", "firstn", "emit", "class", "hdd", "choose_args", "bucket_id", "[", "]",
        "weight_set", "ids", "tunable", "choose_total_tries", "pos", "99999999999", "#", "\n",
    ]), 0..60)) {
        let _ = CrushMap::from_text(&words.join(" "));
    }
}

// Rule: a device that goes out leaves the copies of others where they were, as long as each has a place of its own. With
// stable descents (jewel), an input without a copy on the device that left keeps all three, in order.
#[test]
fn a_failure_moves_only_what_it_held() {
    let map = CrushMap::hierarchical(64, 16, None, BucketKind::Straw2, Tunables::JEWEL, Level::Rack).unwrap();
    let before = placements(&map, 3, &[], 5_000);
    let mut reweight = vec![0x1_0000; 64];
    reweight[7] = 0;
    let after = placements(&map, 3, &reweight, 5_000);
    let mut moved = 0;
    for (before, after) in before.iter().zip(&after) {
        if before.contains(&7) {
            assert!(!after.contains(&7));
            moved += 1;
        } else {
            assert_eq!(before, after);
        }
    }
    // Each input holds device 7 with probability 3/64: 234 of 5,000, standard deviation 15. Six of those: 144 to 325.
    assert!((144..=325).contains(&moved), "{moved}");
}

// Rule: every server of a flat map gets its share. 60,000 copies on 20 servers are 3,000 each; without replacement within
// an input the standard deviation is sqrt(20,000 x 3/20 x 17/20) = 50.5, and 40 draws stay within 5 of them.
#[test]
fn shares_are_even() {
    for kind in [BucketKind::Straw, BucketKind::Straw2] {
        let map = CrushMap::flat(20, kind, Tunables::JEWEL);
        let mut counts = [0i32; 20];
        for device in placements(&map, 3, &[], 20_000).into_iter().flatten() {
            counts[device as usize] += 1;
        }
        assert!(counts.iter().all(|count| (count - 3_000).abs() < 253), "{kind:?}: {counts:?}");
    }
}
