//! One input placed under several reweights at once, against each by itself.

use crate::common;

use common::{Random, RandomMap, random_map};
use resilver_crush::{BucketKind, CrushMap, Lanes, Scratch, Tunables};

/// Reweights of all devices in, of the map's own, and of those with a share of devices out.
fn reweights(map: &CrushMap, own: &[(i32, f32)], seed: u64) -> Vec<Vec<u32>> {
    let devices = map.max_device().max(0) as usize;
    let mut of_map = vec![0x1_0000; devices];
    own.iter().for_each(|&(device, weight)| of_map[device as usize] = (weight * 65536.0) as u32);
    let mut random = Random::new(seed);
    let mut with_out = |share| {
        let mut reweight = of_map.clone();
        reweight.iter_mut().filter(|_| random.once_in(share)).for_each(|device| *device = 0);
        reweight
    };
    let (few, many) = (with_out(20), with_out(2));
    vec![Vec::new(), of_map, few, many]
}

/// Whether each input is placed under all reweights as under each by itself, by every rule and on all instructions; how often
/// reweights led to different devices.
fn compare(map: &CrushMap, what: &str, copies: usize, reweights: &[Vec<u32>]) -> usize {
    let (weight_sets, mut changed) = (map.weight_sets_for(0), 0);
    for (rule, lanes) in
        map.rules().iter().flat_map(|rule| Lanes::available().into_iter().map(move |lanes| (rule, lanes)))
    {
        let (mut alone, mut together) = (Scratch::with_lanes(lanes), Scratch::with_lanes(lanes));
        let (mut devices, mut out) = (Vec::new(), Vec::new());
        for x in (0..100u32).map(|index| index.wrapping_mul(0x9e37_79b9)) {
            let expected: Vec<Vec<i32>> = reweights
                .iter()
                .map(|reweight| {
                    map.place_with(rule, x, copies, reweight, weight_sets, &mut alone, &mut devices);
                    devices.clone()
                })
                .collect();
            let mut found = Vec::new();
            let all = reweights.iter().map(|reweight| &reweight[..]);
            let each = |devices: &[i32]| found.push(devices.to_vec());
            map.place_under_each((rule, x, copies), weight_sets, all, (&mut together, &mut out), each);
            assert_eq!(found, expected, "{what}, rule {}, x {x}, {lanes:?}", rule.id);
            changed += usize::from(found[0] != found[3]);
        }
    }
    changed
}

// Rule: on random maps of all bucket kinds, tunables, rules, reweights, device classes and choose_args, what one input drew is
// the same under any reweight, and nothing is left of it for the next input.
#[test]
fn random_maps() {
    let mut changed = 0;
    for seed in 0..40 {
        let RandomMap { text, copies, reweights: own, .. } = random_map(seed);
        let map = CrushMap::from_text(&text).unwrap();
        changed += compare(&map, &format!("map {seed}"), copies, &reweights(&map, &own, seed));
    }
    // Half of the devices are out: most placements change, of 40 maps, six rules, three roads or more and 100 inputs.
    assert!(changed > 20_000, "{changed}");
}

// Rule: the same in flat buckets of each kind, whose draws are kept whatever their size.
#[test]
fn flat_buckets() {
    for kind in [
        BucketKind::Uniform,
        BucketKind::List,
        BucketKind::Tree,
        BucketKind::Straw,
        BucketKind::Straw2,
        BucketKind::Vring,
    ] {
        for servers in [10, 23, 24, 25, 150] {
            let map = CrushMap::flat(servers, kind, Tunables::JEWEL);
            let changed =
                compare(&map, &format!("{servers} in {kind:?}"), 3, &reweights(&map, &[], u64::from(servers)));
            assert!(changed > 100, "{changed}");
        }
    }
}
