//! Multi-step-retry rules: against recorded answers of Ceph, a plain twin, and the laws of Ceph's developer page.

use crate::sha256;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use resilver_crush::{Choose, CrushMap, NONE, Rule, Scratch, Step};
use sha256::sha256_hex;

const IN: u32 = 0x1_0000;

/// A rule of these steps, which the map need not hold.
fn rule(pool_kind: u8, steps: Vec<Step>) -> Rule {
    Rule { id: 0, name: "data".to_owned(), ruleset: 0, pool_kind, min_size: 1, max_size: 32, steps }
}

/// `choosemsr COUNT type TYPE`.
fn choose(count: i32, type_id: i32) -> Step {
    Step::ChooseMsr { count, type_id }
}

/// Straw2 hosts of equal devices under one root -1: host `h` has id `-2 - h`.
fn hosts_of(hosts: i32, devices: i32, tunables: &str) -> CrushMap {
    CrushMap::from_text(&map_text(hosts, devices, tunables)).unwrap()
}

fn map_text(hosts: i32, devices: i32, tunables: &str) -> String {
    let mut text = format!("{tunables}\ntype 0 osd\ntype 1 host\ntype 2 root\n");
    let mut root = String::from("root default { id -1 alg straw2 hash 0\n");
    for device in 0..hosts * devices {
        text += &format!("device {device} osd.{device}\n");
    }
    for host in 0..hosts {
        text += &format!("host host{host} {{ id {} alg straw2 hash 0\n", -2 - host);
        for device in host * devices..(host + 1) * devices {
            text += &format!("item osd.{device} weight 1.0\n");
        }
        text += "}\n";
        root += &format!("item host{host} weight {devices}\n");
    }
    format!("{text}{root}}}\n")
}

const JEWEL: &str = "tunable choose_local_tries 0
    tunable choose_local_fallback_tries 0
    tunable choose_total_tries 50
    tunable chooseleaf_descend_once 1
    tunable chooseleaf_vary_r 1
    tunable chooseleaf_stable 1";

fn place(map: &CrushMap, rule: &Rule, x: u32, copies: usize, reweight: &[u32]) -> Vec<i32> {
    let mut out = Vec::new();
    map.place(rule, x, copies, reweight, &mut Scratch::new(), &mut out);
    out
}

// Rule: 11,200 answers of Ceph 20.2.4's own mapper, published as the SHA-256 of a table by the authors of the public
// repository tchaikov/rados-rs (rados/tests/crush/reference), come out alike: conventional rules, malformed ones, and
// `choosemsr 2 type host, choosemsr 2 type osd` for three copies, each for all 16 sets of devices out and inputs 0 to 99 of a
// map of two hosts with two devices. A line of the table is: scenario, bits of the devices out, input, count, devices.
#[test]
fn published_answers_of_ceph() {
    let leaf = |count, type_id, firstn, leaf| Step::Choose(Choose { firstn, leaf, count, type_id });
    let take = Step::Take(-1);
    let two_by_two = vec![take, choose(2, 1), choose(2, 0), Step::Emit];
    let scenarios = [
        (3, 3, vec![take, leaf(3, 1, false, false), leaf(1, 0, false, false), Step::Emit]),
        (3, 1, vec![Step::SetChooseleafTries(10), take, leaf(1, 1, true, true), Step::Emit]),
        (1, 3, vec![take, choose(2, 0), Step::Emit]),
        (4, 3, vec![take, leaf(2, 0, true, false), Step::Emit]),
        (3, 3, vec![Step::Take(0), Step::Emit, Step::Emit]),
        (4, 3, two_by_two.clone()),
        (5, 3, two_by_two),
    ];
    let mut table = String::new();
    for (scenario, (kind, copies, steps)) in scenarios.into_iter().enumerate() {
        let tries = if scenario == 1 { "choose_total_tries 0" } else { "choose_total_tries 50" };
        let map = hosts_of(2, 2, &JEWEL.replace("choose_total_tries 50", tries));
        let rule = rule(kind, steps);
        for mask in 0..16u32 {
            let reweight: Vec<u32> = (0..4).map(|device| if mask >> device & 1 == 0 { IN } else { 0 }).collect();
            for x in 0..100 {
                let devices = place(&map, &rule, x, copies, &reweight);
                table += &format!("{scenario} {mask} {x} {}", devices.len());
                table.extend(devices.iter().map(|device| format!(" {device}")));
                table.push('\n');
            }
        }
    }
    assert_eq!(table.lines().count(), 11_200);
    assert_eq!(sha256_hex(table.as_bytes()), "526fbf16663e42265899c0405e0213996c8cd14f391c4aeb52cd8273f0c3127c");
}

// Rule: the digest is SHA-256's, of which FIPS 180-4 gives "abc" as an example.
#[test]
fn digest_of_the_standards_example() {
    assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/// Two roots of hosts as in [`hosts_of`] and the rule that takes `counts` from each in turn.
fn blocks(roots: &[i32], hosts: i32, devices: i32) -> Vec<Step> {
    let block = |&root: &i32| [Step::Take(root), choose(hosts, 1), choose(devices, 0), Step::Emit];
    roots.iter().flat_map(block).collect()
}

/// How many positions hold a device.
fn filled(devices: &[i32]) -> usize {
    devices.iter().filter(|&&device| device != NONE).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // Rule: `choosemsr A type host, choosemsr B type osd` keeps the A shares of B positions on different hosts, so no host has
    // more than B copies, no device two, and none that is out any; with whole hosts to spare, every position is filled.
    #[test]
    fn shares_never_meet_on_a_host(
        per_host in 1i32..5, shares in 1i32..5, spare in 1i32..5, extra in 0i32..3, out in prop::collection::btree_set(0i32..40, 0..4),
        first: u32,
    ) {
        let devices = per_host + extra;
        // Each device out spoils one host at most, so that many hosts more than shares suffice.
        let map = hosts_of(shares + spare + out.len() as i32, devices, JEWEL);
        let reweight: Vec<u32> = (0..map.max_device()).map(|id| if out.contains(&id) { 0 } else { IN }).collect();
        let copies = (shares * per_host) as usize;
        for (kind, x) in [4, 5].into_iter().flat_map(|kind| (0..50).map(move |x| (kind, first.wrapping_add(x)))) {
            let found = place(&map, &rule(kind, blocks(&[-1], shares, per_host)), x, copies, &reweight);
            prop_assert_eq!(filled(&found), copies, "{:?}", found);
            prop_assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), copies, "a device twice: {:?}", found);
            prop_assert!(found.iter().all(|device| !out.contains(device)));
            let mut on_host = BTreeMap::new();
            found.iter().for_each(|device| *on_host.entry(device / devices).or_insert(0) += 1);
            prop_assert!(on_host.values().all(|&count| count <= per_host), "{:?}", found);
            if kind == 5 {
                let hosts: Vec<BTreeSet<i32>> =
                    found.chunks(per_host as usize).map(|share| share.iter().map(|id| id / devices).collect()).collect();
                let together: usize = hosts.iter().map(BTreeSet::len).sum();
                prop_assert_eq!(together, hosts.concat_sets(), "two shares on one host: {:?}", found);
            }
        }
    }

    // Rule: in an msr_indep rule a device that goes out leaves all positions outside its own share where they were, and where
    // each share is one device, all positions but its own. A share's later devices may have collided with it, so they may move.
    #[test]
    fn positions_are_stable(per_host in 1i32..4, shares in 2i32..5, position: prop::sample::Index, first: u32) {
        let map = hosts_of(shares * 3, per_host + 1, JEWEL);
        let rule = rule(5, blocks(&[-1], shares, per_host));
        let copies = (shares * per_host) as usize;
        let position = position.index(copies);
        for x in (0..50).map(|x| first.wrapping_add(x)) {
            let before = place(&map, &rule, x, copies, &[]);
            let mut reweight = vec![IN; map.max_device() as usize];
            reweight[before[position] as usize] = 0;
            let after = place(&map, &rule, x, copies, &reweight);
            prop_assert!(after[position] != before[position] && filled(&after) == copies);
            for other in (0..copies).filter(|other| other / per_host as usize != position / per_host as usize) {
                prop_assert_eq!(before[other], after[other], "x {}: {:?} -> {:?}", x, before, after);
            }
        }
    }
}

/// The size of the union of some sets.
trait ConcatSets {
    fn concat_sets(&self) -> usize;
}

impl ConcatSets for Vec<BTreeSet<i32>> {
    fn concat_sets(&self) -> usize {
        self.iter().flatten().collect::<BTreeSet<_>>().len()
    }
}

// Rule: with fewer hosts than shares, firstn comes up short and indep leaves holes. Three hosts serve three of five copies.
#[test]
fn too_few_hosts() {
    let map = hosts_of(3, 1, JEWEL);
    for x in 0..100 {
        let short = place(&map, &rule(4, blocks(&[-1], 0, 1)), x, 5, &[]);
        assert_eq!((short.len(), filled(&short)), (3, 3));
        let holes = place(&map, &rule(5, blocks(&[-1], 0, 1)), x, 5, &[]);
        assert_eq!((holes.len(), filled(&holes)), (5, 3));
    }
}

// Rule: what an out device held spreads over the other hosts by weight, as the developer page promises, where two plain
// choose steps would crowd its own host. Eight hosts of four devices, two shares of two: each device holds 4/32 of the inputs'
// positions. Among the replacements of device 0, its own host (three devices left) gets no more than a third: of the hosts
// that its share may use, seven (eight less the other share's), its own has a weight of 3 in 27, less where it is full.
#[test]
fn replacements_leave_the_host() {
    let map = hosts_of(8, 4, JEWEL);
    let rule = rule(5, blocks(&[-1], 2, 2));
    let mut reweight = vec![IN; 32];
    reweight[0] = 0;
    let (mut at_home, mut away) = (0, 0);
    for x in 0..4_000 {
        let before = place(&map, &rule, x, 4, &[]);
        let Some(position) = before.iter().position(|&device| device == 0) else { continue };
        let after = place(&map, &rule, x, 4, &reweight);
        *(if after[position] / 4 == 0 { &mut at_home } else { &mut away }) += 1;
    }
    // 4,000 inputs x 4/32 = 500 replacements; 3 in 27 of these are 56, standard deviation 7.
    assert!((400..600).contains(&(at_home + away)), "{at_home} + {away}");
    assert!((1..=90).contains(&at_home), "{at_home} of {}", at_home + away);
}

// Rule: blocks of one rule fill positions one after the other, each from its own root, and cut off at the copies asked for.
#[test]
fn blocks_follow_each_other() {
    let one = map_text(8, 3, JEWEL);
    let cut = one.find("item host4 weight").unwrap();
    let text = format!("{}}}\nroot second {{ id -50 alg straw2 hash 0\n{}", &one[..cut], &one[cut..]);
    let map = CrushMap::from_text(&text).unwrap();
    let rule = rule(5, blocks(&[-1, -50], 2, 2));
    for x in 0..1_000 {
        let all = place(&map, &rule, x, 8, &[]);
        assert_eq!(filled(&all), 8);
        assert!(all[..4].iter().all(|&device| device < 12) && all[4..].iter().all(|&device| device >= 12), "{all:?}");
        assert_eq!(place(&map, &rule, x, 3, &[]).len(), 3);
    }
}

// Rule: what a hostile rule asks for is refused with its step, or maps to nothing as in Ceph; an empty bucket ends no search.
#[test]
fn rules_out_of_order() {
    let map = hosts_of(3, 2, JEWEL);
    let malformed = [
        vec![Step::Emit],
        vec![Step::Take(-1), choose(1, 0)],
        vec![Step::Take(-1), Step::SetMsrDescents(3), choose(1, 0), Step::Emit],
        vec![Step::SetChooseTries(3), Step::Take(-1), choose(1, 0), Step::Emit],
        vec![Step::Take(-1), choose(1, 0), Step::Emit, Step::Noop],
        vec![Step::Take(0), choose(1, 0), Step::Emit],
    ];
    for steps in malformed {
        for kind in [4, 5] {
            assert_eq!(place(&map, &rule(kind, steps.clone()), 1, 3, &[]), Vec::<i32>::new(), "{steps:?}");
        }
    }
    // Choosing below devices, or ending at hosts, finds nothing: firstn is short, indep all holes.
    for steps in [vec![choose(2, 0), choose(1, 0)], vec![choose(2, 1)], vec![]] {
        let steps: Vec<Step> = [Step::Take(-1)].into_iter().chain(steps).chain([Step::Emit]).collect();
        assert_eq!(place(&map, &rule(4, steps.clone()), 1, 3, &[]), Vec::<i32>::new());
        assert_eq!(place(&map, &rule(5, steps), 1, 3, &[]), [NONE; 3]);
    }
    let none = [Step::SetMsrDescents(0), Step::Take(-1), choose(0, 0), Step::Emit];
    assert_eq!(place(&map, &rule(5, none.to_vec()), 1, 2, &[]), [NONE; 2]);
    assert_eq!(place(&map, &rule(5, vec![Step::Take(4), Step::Emit]), 1, 2, &[]), [4, NONE]);
    assert_eq!(place(&map, &rule(5, blocks(&[-1], 2, 1)), 1, 0, &[]), Vec::<i32>::new());
    let empty = hosts_of(2, 0, JEWEL);
    assert_eq!(place(&empty, &rule(5, blocks(&[-1], 2, 1)), 1, 2, &[]), [NONE; 2]);
}
