//! The batch road against the plain one.

use crate::common;

use std::fmt::Write;

use common::{Random, RandomMap, random_map};
use resilver_crush::{Batch, BatchScratch, BucketKind, CrushMap, Lanes, Level, SHORT, Scratch, Tunables};

/// Whether the batch road places `inputs` by every rule as the plain one does, on all instructions; how many rules it
/// placed together.
fn compare(map: &CrushMap, what: &str, inputs: &[u32], copies: usize, reweight: &[u32]) -> usize {
    let weight_sets = map.weight_sets_for(0);
    let mut in_lockstep = 0;
    for rule in map.rules() {
        let batch = Batch::new(map, rule, copies, weight_sets);
        in_lockstep += usize::from(batch.is_together());
        let (mut plain, mut devices) = (Scratch::with_lanes(Lanes::Plain), Vec::new());
        let mut expected = Vec::new();
        for &x in inputs {
            map.place_with(rule, x, copies, reweight, weight_sets, &mut plain, &mut devices);
            devices.resize(copies, SHORT);
            expected.extend_from_slice(&devices);
        }
        for lanes in Lanes::available() {
            let mut found = vec![0; expected.len()];
            batch.place(inputs, reweight, &mut BatchScratch::with_lanes(lanes), &mut found);
            if let Some(first) = (0..found.len()).find(|&index| found[index] != expected[index]) {
                let row = first / copies * copies..(first / copies + 1) * copies;
                panic!(
                    "{what}, rule {}, x {}, {lanes:?}: {:?} instead of {:?}",
                    rule.id,
                    inputs[first / copies],
                    &found[row.clone()],
                    &expected[row]
                );
            }
        }
    }
    in_lockstep
}

/// Inputs without an order: multiples of an odd number.
fn inputs(count: u32) -> Vec<u32> {
    (0..count).map(|index| index.wrapping_mul(0x9e37_79b9)).collect()
}

/// The 16.16 reweights of a random map.
fn fixed(map: &CrushMap, reweights: &[(i32, f32)]) -> Vec<u32> {
    let mut fixed = vec![0x1_0000; map.max_device().max(0) as usize];
    for &(device, weight) in reweights {
        fixed[device as usize] = (weight * 65536.0) as u32;
    }
    fixed
}

// Rule: on random maps of all bucket kinds, tunables, rules, reweights, device classes and choose_args, the batch road and
// the plain one give the same devices.
#[test]
fn random_maps() {
    let mut in_lockstep = 0;
    for seed in 0..40 {
        let RandomMap { text, rules, copies, reweights } = random_map(seed);
        let map = CrushMap::from_text(&text).unwrap();
        assert_eq!(map.rules().len(), rules as usize);
        in_lockstep += compare(&map, &format!("map {seed}"), &inputs(300), copies, &fixed(&map, &reweights));
    }
    // Of 40 maps of six rules, half have straw kinds only, two in three profile tunables, of which four in five have no
    // local retries, and three rules in five have one choose step: 240 x 1/2 x 2/3 x 4/5 x 3/5 = 38, and more by chance
    // of small trees; fewer where a rule sets local tries.
    assert!(in_lockstep > 15, "{in_lockstep}");
}

/// A tree of straw and straw2 buckets of irregular depth and size, with both modes, at every level.
fn straw_tree(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::new();
    let modern = if random.once_in(3) { [0, 0, 50, 1, 1, 0] } else { [0, 0, 50, 1, 1, 1] };
    let names = ["local_tries", "local_fallback_tries", "total_tries"];
    for (name, value) in names.iter().zip(modern) {
        writeln!(text, "tunable choose_{name} {value}").unwrap();
    }
    let vary_r = if random.once_in(3) { random.below(4) } else { modern[4] };
    writeln!(text, "tunable chooseleaf_descend_once {}", u8::from(!random.once_in(5))).unwrap();
    writeln!(text, "tunable chooseleaf_vary_r {vary_r}\ntunable chooseleaf_stable {}", modern[5]).unwrap();
    writeln!(text, "tunable straw_calc_version 1\ntype 0 osd\ntype 1 host\ntype 2 rack\ntype 3 row\ntype 4 root")
        .unwrap();
    let level = random.once_in(2);
    let weight = |random: &mut Random| match random.below(10) {
        _ if level => "1.000".to_owned(),
        0 => "0".to_owned(),
        1 => "0.00002".to_owned(),
        2 => "97.0".to_owned(),
        _ => format!("{}.{:05}", random.below(9), random.below(100_000)),
    };
    let mut below: Vec<String> = Vec::new();
    let devices = 24 + random.below(200);
    for device in 0..devices {
        below.push(format!("osd.{device}"));
        writeln!(text, "device {device} osd.{device}").unwrap();
    }
    let mut id = 0;
    for level in ["host", "rack", "row", "root"] {
        let mut above = Vec::new();
        while !below.is_empty() {
            // One item in twenty skips a level, and the root takes all.
            if level != "root" && !level.starts_with("host") && random.once_in(20) {
                above.push(below.pop().unwrap());
                continue;
            }
            // Some are empty, as the share of a host without devices of a class is, and may yet weigh something.
            let fewest = usize::from(level == "root" || !random.once_in(12));
            let most = if level == "root" { below.len() } else { fewest * (1 + random.below(7) as usize) };
            let items = below.split_off(below.len() - most.min(below.len()));
            id -= 1;
            let alg = random.pick(&["straw", "straw2", "straw2"]);
            writeln!(text, "{level} {level}{id} {{ id {id} alg {alg} hash 0").unwrap();
            for item in items {
                let weight = weight(&mut random);
                writeln!(text, "item {item} weight {weight}").unwrap();
            }
            writeln!(text, "}}").unwrap();
            above.push(format!("{level}{id}"));
        }
        below = above;
    }
    for (number, kind) in ["osd", "host", "rack", "row"].into_iter().enumerate() {
        for (shift, mode) in ["firstn", "indep"].into_iter().enumerate() {
            let (rule, leaf) = (number * 2 + shift, if random.once_in(4) { "choose" } else { "chooseleaf" });
            let count = if random.once_in(4) { random.below(5) as i64 - 1 } else { 0 };
            writeln!(text, "rule r{rule} {{ id {rule} type replicated").unwrap();
            if random.once_in(4) {
                writeln!(text, "step set_chooseleaf_tries 5").unwrap();
            }
            writeln!(text, "step take {}\nstep {leaf} {mode} {count} type {kind}\nstep emit }}", below[0]).unwrap();
        }
    }
    text
}

// Rule: the same on trees of straw and straw2 buckets whose depth and size vary, at every failure domain, with some devices
// out and some in by part; there nearly every rule goes in lockstep.
#[test]
fn irregular_trees() {
    let mut in_lockstep = 0;
    for seed in 0..40 {
        let text = straw_tree(seed);
        let map = CrushMap::from_text(&text).unwrap_or_else(|error| panic!("tree {seed}: {error}\n{text}"));
        let mut random = Random::new(seed);
        let reweight: Vec<u32> = (0..map.max_device())
            .map(|_| match random.below(8) {
                0 => 0,
                1 => random.below(0x1_0000) as u32,
                _ => 0x1_0000,
            })
            .collect();
        let copies = 1 + random.below(7) as usize;
        in_lockstep += compare(&map, &format!("tree {seed}"), &inputs(300), copies, &reweight);
        compare(&map, &format!("tree {seed}, all in"), &inputs(200), copies, &[]);
    }
    assert!(in_lockstep > 40 * 8 * 9 / 10, "{in_lockstep}");
}

// Rule: the same on the maps of the benches, at enough inputs that near ties occur: of 2,000 x 3 draws among 1,024 equal
// items, one in 64 has a runner-up next to it.
#[test]
fn large_buckets_and_deep_trees() {
    let racks = |kind, level| CrushMap::hierarchical(1024, 64, Some(8), kind, Tunables::JEWEL, level).unwrap();
    let maps = [
        CrushMap::flat(1024, BucketKind::Straw, Tunables::HAMMER),
        CrushMap::flat(1024, BucketKind::Straw2, Tunables::JEWEL),
        racks(BucketKind::Straw2, Level::Rack),
        racks(BucketKind::Straw, Level::Row),
        racks(BucketKind::Straw2, Level::Server),
    ];
    for (index, map) in maps.iter().enumerate() {
        assert_eq!(compare(map, &format!("map {index}"), &inputs(2_000), 3, &[0, 0x8000]), 1);
    }
}

/// A vring bucket of devices, of weights from zero to 1.99, and rules that choose from it in both modes.
fn flat_vring(random: &mut Random) -> String {
    let mut text = String::new();
    for name in ["local_tries", "local_fallback_tries"] {
        writeln!(text, "tunable choose_{name} {}", if random.once_in(3) { 2 } else { 0 }).unwrap();
    }
    writeln!(text, "tunable choose_total_tries {}", random.pick(&[1, 19, 50])).unwrap();
    for name in ["descend_once", "vary_r", "stable"] {
        writeln!(text, "tunable chooseleaf_{name} {}", random.below(2)).unwrap();
    }
    let devices = 1 + random.below(60);
    (0..devices).for_each(|device| writeln!(text, "device {device} osd.{device}").unwrap());
    writeln!(text, "type 0 osd\ntype 1 root\nroot all {{ id -1 alg vring hash 0").unwrap();
    for device in 0..devices {
        let weight = if random.once_in(6) { 0 } else { random.below(200) };
        writeln!(text, "item osd.{device} weight {}.{:02}", weight / 100, weight % 100).unwrap();
    }
    writeln!(text, "}}").unwrap();
    for (rule, mode) in ["firstn", "indep"].into_iter().cycle().take(6).enumerate() {
        let leaf = random.pick(&["choose", "chooseleaf"]);
        let count = random.below(5) as i64 - 1;
        writeln!(text, "rule r{rule} {{ id {rule} type replicated\nstep take all").unwrap();
        writeln!(text, "step {leaf} {mode} {count} type osd\nstep emit }}").unwrap();
    }
    text
}

// Rule: the same on one vring bucket of devices, whatever the tunables, with devices out or in by part, where copies meet
// often and where they hardly do; every rule but those that ask for no device goes its road.
#[test]
fn vring_buckets() {
    let mut together = 0;
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let map = CrushMap::from_text(&flat_vring(&mut random)).unwrap();
        let reweight: Vec<u32> =
            (0..map.max_device()).map(|_| *random.pick(&[0, 0x4000, 0x1_0000, 0x1_0000])).collect();
        let copies = 1 + random.below(6) as usize;
        together += compare(&map, &format!("ring {seed}"), &inputs(700), copies, &reweight);
        compare(&map, &format!("ring {seed}, all in"), &inputs(700), copies, &[]);
    }
    // A count of -1 asks for no device of one copy, and a bucket may have no weight at all.
    assert!(together > 60 * 6 * 8 / 10, "{together}");
    let large = CrushMap::flat(1024, BucketKind::Vring, Tunables::JEWEL);
    assert_eq!(compare(&large, "large ring", &inputs(20_000), 3, &[0, 0x8000]), 1);
}

// Rule: a mapping shorter than its row is padded, whatever the road; no copies are no devices.
#[test]
fn short_mappings() {
    for kind in [BucketKind::Straw2, BucketKind::List] {
        let map = CrushMap::flat(2, kind, Tunables::JEWEL);
        let batch = Batch::new(&map, map.rule_by_id(0).unwrap(), 4, None);
        let mut found = vec![0; 40];
        batch.place(&inputs(10), &[], &mut BatchScratch::new(), &mut found);
        // Two devices hold two copies, and two places stay empty.
        assert!(
            found.chunks(4).all(|row| row[0] >= 0 && row[1] == 1 - row[0] && row[2..] == [SHORT, SHORT]),
            "{found:?}"
        );
        Batch::new(&map, map.rule_by_id(0).unwrap(), 0, None).place(
            &inputs(10),
            &[],
            &mut BatchScratch::new(),
            &mut [],
        );
    }
}
