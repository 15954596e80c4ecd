//! Our placements against those of Ceph's `crushtool`, which is compiled from the code that clusters run.
//!
//! The tests skip with a reason where `crushtool` is not installed; `golden.rs` then still holds recorded answers.
//! `RESILVER_ORACLE_MAPS` sets how many random maps are compared, `RESILVER_ORACLE_FIRST` the number of the first.

use crate::common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{RandomMap, random_map};
use resilver_crush::{BucketKind, CrushMap, Level, Scratch, Tunables};

/// Inputs compared a rule and map.
const INPUTS: u32 = 1_000;

/// A folder of this test's own, removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn crushtool_is_missing() -> bool {
    let missing = Command::new("crushtool").arg("--help").output().is_err();
    if missing {
        println!("skipped: crushtool is not installed (Debian: ceph-base)");
    }
    missing
}

fn run(arguments: &[&str], folder: &Path) -> String {
    let output = Command::new("crushtool").args(arguments).current_dir(folder).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "crushtool {arguments:?}: {err}");
    format!("{out}{err}")
}

/// The tester's mappings of one rule, by input.
fn mappings(folder: &Path, rule: u32, copies: usize, reweights: &[(i32, f32)]) -> Vec<Vec<i32>> {
    let numbers = [rule.to_string(), copies.to_string(), (INPUTS - 1).to_string()];
    let mut arguments = vec!["-i", "map.bin", "--test", "--show-mappings", "--min-x", "0"];
    arguments.extend(["--rule", &numbers[0], "--num-rep", &numbers[1], "--max-x", &numbers[2]]);
    let reweights: Vec<[String; 2]> =
        reweights.iter().map(|(id, weight)| [id.to_string(), weight.to_string()]).collect();
    for [device, weight] in &reweights {
        arguments.extend(["--weight", device, weight]);
    }
    let output = run(&arguments, folder);
    let lines = output.lines().filter(|line| line.starts_with("CRUSH rule"));
    let list = |line: &str| -> Vec<i32> {
        let inside = &line[line.find('[').unwrap() + 1..line.rfind(']').unwrap()];
        inside.split(',').filter(|number| !number.is_empty()).map(|number| number.parse().unwrap()).collect()
    };
    let found: Vec<Vec<i32>> = lines.map(list).collect();
    assert_eq!(found.len(), INPUTS as usize, "{output}");
    found
}

fn compare(map: &CrushMap, what: &str, rule: u32, copies: usize, reweights: &[(i32, f32)], expected: &[Vec<i32>]) {
    let mut fixed = vec![0x1_0000; map.max_device().max(0) as usize];
    for &(device, weight) in reweights {
        fixed[device as usize] = (weight * 65536.0) as u32;
    }
    let (mut scratch, mut devices) = (Scratch::new(), Vec::new());
    let rule = map.rule_by_id(rule).unwrap();
    for (x, expected) in expected.iter().enumerate() {
        map.place_with(rule, x as u32, copies, &fixed, map.weight_sets_for(0), &mut scratch, &mut devices);
        assert_eq!(&devices, expected, "{what}: rule {}, x {x}, {copies} copies", rule.id);
    }
}

// Rule: on random maps of all bucket kinds, tunables, rules, reweights, device classes and choose_args, ours and
// crushtool's answers are the same for every input; so are they for the binary form and the JSON that crushtool makes of the map.
#[test]
fn random_maps() {
    if crushtool_is_missing() {
        return;
    }
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let first = number("RESILVER_ORACLE_FIRST", 0);
    let folder = Folder::new("random-maps");
    for seed in first..first + number("RESILVER_ORACLE_MAPS", 40) {
        let RandomMap { text, rules, copies, reweights } = random_map(seed);
        std::fs::write(folder.0.join("map.txt"), &text).unwrap();

        run(&["-c", "map.txt", "-o", "map.bin", "--enable-unsafe-tunables"], &folder.0);
        let map = CrushMap::from_text(&text).unwrap_or_else(|error| panic!("map {seed}: {error}\n{text}"));
        let binary = CrushMap::from_bytes(&std::fs::read(folder.0.join("map.bin")).unwrap()).unwrap();
        let dump = run(&["-i", "map.bin", "--dump"], &folder.0);
        let json = CrushMap::from_json(&dump[..=dump.rfind('}').unwrap()]).unwrap();
        for rule in 0..rules {
            let expected = mappings(&folder.0, rule, copies, &reweights);
            compare(&map, &format!("map {seed}"), rule, copies, &reweights, &expected);
            compare(&binary, &format!("map {seed} in binary"), rule, copies, &reweights, &expected);
            if !text.contains("choose_args") {
                // The dump rounds the weights of choose_args, and nothing else.
                compare(&json, &format!("map {seed} by JSON"), rule, copies, &reweights, &expected);
            }
        }
    }
}

// Rule: maps built from a few numbers, written as text, place alike in crushtool.
#[test]
fn built_maps() {
    if crushtool_is_missing() {
        return;
    }
    let folder = Folder::new("built-maps");
    let (straw, straw2) = (BucketKind::Straw, BucketKind::Straw2);
    let maps = [
        CrushMap::flat(1024, straw, Tunables::HAMMER),
        CrushMap::flat(1024, straw2, Tunables::JEWEL),
        CrushMap::flat(5, straw, Tunables::ARGONAUT),
        CrushMap::hierarchical(256, 16, Some(2), straw, Tunables::HAMMER, Level::Rack).unwrap(),
        CrushMap::hierarchical(256, 16, None, straw2, Tunables::JEWEL, Level::Server).unwrap(),
        CrushMap::hierarchical(64, 8, Some(4), straw2, Tunables::BOBTAIL, Level::Row).unwrap(),
    ];
    for (index, map) in maps.iter().enumerate() {
        std::fs::write(folder.0.join("map.txt"), map.to_text()).unwrap();
        run(&["-c", "map.txt", "-o", "map.bin", "--enable-unsafe-tunables"], &folder.0);
        let reweights = [(3, 0.0), (4, 0.5)];
        compare(map, &format!("map {index}"), 0, 3, &reweights, &mappings(&folder.0, 0, 3, &reweights));
    }
}
