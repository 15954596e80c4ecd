//! Recorded answers of `crushtool`, for machines without it.
//!
//! Each file of `tests/golden` is a map in text; each line `# expect RULE COPIES [DEVICE=REWEIGHT ...] : ...` holds the devices
//! of inputs 0, 1, 2, ..., `|` between inputs, as `crushtool --test --show-mappings` gave them. `vring.txt`, which no tool
//! of Ceph reads, holds our own: where a vring map puts data is a promise too. Multi-step-retry rules have published
//! answers of Ceph's in `msr.rs`. To refresh, run `RESILVER_REFRESH_GOLDEN=1 cargo test -p resilver-placement --test golden`
//! where `crushtool` 10 or later is installed, and review the difference.

use crate::common;

use std::path::PathBuf;
use std::process::Command;

use common::{RandomMap, random_map};
use resilver_crush::{BucketKind, CrushMap, Lanes, Level, Rule, Scratch, Tunables};

/// Inputs recorded a rule.
const INPUTS: usize = 24;
/// Random maps recorded, chosen to have between them what `every_feature_is_recorded` lists.
const MAPS: [u64; 8] = [0, 2, 5, 7, 11, 16, 21, 24];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Asks `crushtool` and writes one file a map.
fn refresh() {
    for seed in MAPS {
        let RandomMap { mut text, rules, copies, reweights } = random_map(seed);
        let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let (source, binary) = (scratch.join("golden.txt"), scratch.join("golden.bin"));
        std::fs::write(&source, &text).unwrap();
        let mut compile = Command::new("crushtool");
        compile.arg("-c").arg(&source).arg("-o").arg(&binary).arg("--enable-unsafe-tunables");
        assert!(compile.status().unwrap().success());
        for rule in 0..rules {
            let mut command = Command::new("crushtool");
            command.arg("-i").arg(&binary).args(["--test", "--show-mappings", "--min-x", "0", "--max-x"]);
            command.arg((INPUTS - 1).to_string()).args(["--rule", &rule.to_string(), "--num-rep", &copies.to_string()]);
            let mut line = format!("# expect {rule} {copies}");
            for (device, weight) in &reweights {
                command.args(["--weight", &device.to_string(), &weight.to_string()]);
                line += &format!(" {device}={weight}");
            }
            let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
            let lists = output.lines().map(|line| &line[line.find('[').unwrap() + 1..line.rfind(']').unwrap()]);
            text += &format!("{line} : {}\n", lists.collect::<Vec<_>>().join("|"));
        }
        std::fs::write(folder().join(format!("map-{seed:02}.txt")), text).unwrap();
    }
}

fn check(name: &str, map: &CrushMap, line: &str, lanes: Lanes) {
    let (head, answers) = line.split_once(" : ").unwrap();
    let mut words = head.split(' ').skip(2);
    let rule = map.rule_by_id(words.next().unwrap().parse().unwrap()).unwrap();
    let copies = words.next().unwrap().parse().unwrap();
    let mut reweights = vec![0x1_0000; map.max_device() as usize];
    for word in words {
        let (device, weight) = word.split_once('=').unwrap();
        reweights[device.parse::<usize>().unwrap()] = (weight.parse::<f32>().unwrap() * 65536.0) as u32;
    }
    let answers: Vec<&str> = answers.split('|').collect();
    assert_eq!(answers.len(), INPUTS);
    for (x, (answer, found)) in answers.into_iter().zip(ours(map, rule, copies, &reweights, lanes)).enumerate() {
        assert_eq!(found, answer, "{name}: rule {}, x {x}, {lanes:?}", rule.id);
    }
}

/// Our devices of each input, in the form of the files.
fn ours(map: &CrushMap, rule: &Rule, copies: usize, reweights: &[u32], lanes: Lanes) -> Vec<String> {
    let (mut scratch, mut devices) = (Scratch::with_lanes(lanes), Vec::new());
    let place = |x| {
        map.place_with(rule, x, copies, reweights, map.weight_sets_for(0), &mut scratch, &mut devices);
        devices.iter().map(i32::to_string).collect::<Vec<_>>().join(",")
    };
    (0..INPUTS as u32).map(place).collect()
}

/// Racks and servers in vrings, one server of each rack heavier, three copies in different racks or servers.
fn refresh_vring() {
    let (tunables, kind) = (Tunables::JEWEL, BucketKind::Vring);
    let map = CrushMap::hierarchical(24, 6, None, kind, tunables, Level::Rack).unwrap();
    let mut text = map.to_text();
    for server in [0, 4, 8] {
        text = text.replace(&format!("item server.{server} weight 1\n"), &format!("item server.{server} weight 2.5\n"));
    }
    let end = text.find("# end crush map").unwrap();
    text.truncate(end);
    text += "rule strips {\n\tid 1\n\ttype erasure\n\tmin_size 1\n\tmax_size 10\n\tstep take default\n";
    text += "\tstep chooseleaf indep 0 type rack\n\tstep emit\n}\n";
    let map = CrushMap::from_text(&text).unwrap();
    let mut reweights = vec![0x1_0000; 24];
    (reweights[3], reweights[8]) = (0, 0x8000);
    for rule in map.rules() {
        let lists = ours(&map, rule, 4, &reweights, Lanes::Portable).join("|");
        text += &format!("# expect {} 4 3=0 8=0.5 : {lists}\n", rule.id);
    }
    std::fs::write(folder().join("vring.txt"), text).unwrap();
}

/// The recorded files: name and text.
fn recorded() -> Vec<(String, String)> {
    let names = MAPS.iter().map(|seed| format!("map-{seed:02}.txt")).chain(["vring.txt".to_owned()]);
    names.map(|name| (name.clone(), std::fs::read_to_string(folder().join(name)).unwrap())).collect()
}

// Rule: on every set of instructions, recorded maps place as crushtool placed them.
#[test]
fn recorded_answers() {
    if std::env::var_os("RESILVER_REFRESH_GOLDEN").is_some() {
        refresh();
        refresh_vring();
    }
    for (name, text) in recorded() {
        let map = CrushMap::from_text(&text).unwrap();
        let expectations: Vec<&str> = text.lines().filter(|line| line.starts_with("# expect")).collect();
        assert_eq!(expectations.len(), map.rules().len(), "{name}");
        for line in expectations {
            for lanes in Lanes::available() {
                check(&name, &map, line, lanes);
            }
        }
    }
}

// Rule: the files have between them every kind of bucket, both modes with and without leaves, holes, short results, classes,
// choose_args with ids, reweights, every setting a rule makes, legacy and optimal tunables.
#[test]
fn every_feature_is_recorded() {
    let all: String = recorded().into_iter().map(|(_, text)| text).collect();
    for feature in [
        "alg uniform",
        "alg list",
        "alg tree",
        "alg straw\n",
        "alg straw2",
        "alg vring",
        "choose firstn",
        "choose indep",
        "chooseleaf firstn",
        "chooseleaf indep",
        "2147483647",
        "step take root0 class ",
        "choose_args 0",
        "ids [",
        "weight_set [",
        "=0.",
        "set_choose_tries",
        "set_chooseleaf_tries",
        "set_choose_local_tries",
        "set_choose_local_fallback_tries",
        "set_chooseleaf_vary_r",
        "set_chooseleaf_stable",
        "tunable choose_local_fallback_tries 5",
        "tunable chooseleaf_stable 1",
        "tunable straw_calc_version 0",
    ] {
        assert!(all.contains(feature), "no recorded file has {feature:?}");
    }
    // A line is `# expect RULE COPIES ... : ANSWER|ANSWER...`; a short answer has fewer devices than copies.
    let is_short = |line: &str| {
        let (head, answers) = line.split_once(" : ").unwrap();
        let copies: usize = head.split(' ').nth(3).unwrap().parse().unwrap();
        answers.split('|').any(|answer| answer.split(',').filter(|device| !device.is_empty()).count() < copies)
    };
    assert!(all.lines().any(|line| line.starts_with("# expect") && is_short(line)), "no recorded answer is short");
}
