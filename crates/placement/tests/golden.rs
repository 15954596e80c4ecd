//! Recorded answers of `crushtool`, for machines without it.
//!
//! Each file of `tests/golden` is a map in text; each line `# expect RULE COPIES [DEVICE=REWEIGHT ...] : ...` holds the devices
//! of inputs 0, 1, 2, ..., `|` between inputs, as `crushtool --test --show-mappings` gave them. To refresh, run
//! `RESILVER_REFRESH_GOLDEN=1 cargo test -p resilver-placement --test golden` where `crushtool` 10 or later is installed,
//! and review the difference.

mod common;

use std::path::PathBuf;
use std::process::Command;

use common::{RandomMap, random_map};
use resilver_placement::crush::{CrushMap, Lanes, Scratch};

/// Inputs recorded a rule.
const INPUTS: usize = 24;
/// Random maps recorded: between them they have all bucket kinds, both modes, device classes and choose_args.
const MAPS: [u64; 6] = [0, 2, 5, 7, 11, 16];

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
    let (mut scratch, mut devices) = (Scratch::with_lanes(lanes), Vec::new());
    let answers: Vec<&str> = answers.split('|').collect();
    assert_eq!(answers.len(), INPUTS);
    for (x, answer) in answers.into_iter().enumerate() {
        map.place_with(rule, x as u32, copies, &reweights, map.weight_sets_for(0), &mut scratch, &mut devices);
        let found: Vec<String> = devices.iter().map(i32::to_string).collect();
        assert_eq!(found.join(","), answer, "{name}: rule {}, x {x}, {lanes:?}", rule.id);
    }
}

// Rule: on every set of instructions, recorded maps place as crushtool placed them.
#[test]
fn recorded_answers() {
    if std::env::var_os("RESILVER_REFRESH_GOLDEN").is_some() {
        refresh();
    }
    for seed in MAPS {
        let name = format!("map-{seed:02}.txt");
        let text = std::fs::read_to_string(folder().join(&name)).unwrap();
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
