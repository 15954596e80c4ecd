//! The map after a change against Ceph's `osdmaptool`: the sets of all groups, and the upmap entries that a change breaks.
//!
//! Skips with a reason where `osdmaptool` is not installed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use resilver_ceph::map::{MapChange, OsdMap, UpSets};
use resilver_ceph::{Add, Change, ClusterInput};
use resilver_crush::CrushMap;
use serde_json::Value;

use crate::common::{cluster, of_classes, osd, replicated};

/// OSDs: 3 racks of 4 hosts of 3.
const OSDS: usize = 36;

/// A folder with a map of `osdmaptool`'s.
struct Folder(PathBuf);

impl Folder {
    fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new("osdmaptool").arg("map").args(arguments).current_dir(&self.0).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// A map of so many OSDs with one pool, made with these options; none where the tool is missing.
    fn new(name: &str, crush: &CrushMap, osds: usize, options: &[&str]) -> Option<Self> {
        let folder = Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name));
        std::fs::create_dir_all(&folder.0).unwrap();
        if Command::new("osdmaptool").arg("--help").output().is_err() {
            println!("skipped: osdmaptool is not installed (Debian: ceph-base)");
            return None;
        }
        std::fs::write(folder.0.join("crush"), crush.to_bytes().unwrap()).unwrap();
        let create = ["--createsimple", &osds.to_string(), "--with-default-pool", "--clobber"];
        folder.run(&[&create[..], options].concat());
        folder.run(&["--import-crush", "crush"]);
        Some(folder)
    }

    /// One of eight groups an OSD, with upmap entries that Ceph's balancer wrote.
    fn balanced(name: &str, crush: &CrushMap) -> Option<Self> {
        let folder = Self::new(name, crush, OSDS, &["--pg-bits", "3"])?;
        let balance = ["--upmap", "entries", "--upmap-deviation", "1", "--upmap-max", "60", "--save"];
        let same_each_time = ["--mark-up-in", "--osd_calc_pg_upmaps_aggressively=false"];
        folder.run(&[&same_each_time[..], &balance].concat());
        Some(folder)
    }

    /// The pairs of each group's entry.
    fn entries(&self) -> BTreeMap<u32, Vec<(i32, i32)>> {
        let text = self.run(&["--dump", "json"]);
        let dump: Value = serde_json::from_str(&text[text.find('{').unwrap()..=text.rfind('}').unwrap()]).unwrap();
        let pair = |pair: &Value| (pair["from"].as_i64().unwrap() as i32, pair["to"].as_i64().unwrap() as i32);
        let entry = |entry: &Value| {
            let pairs = entry["mappings"].as_array().unwrap().iter().map(pair).collect();
            (group_of(entry["pgid"].as_str().unwrap()), pairs)
        };
        dump["pg_upmap_items"].as_array().unwrap().iter().map(entry).collect()
    }
}

fn group_of(pgid: &str) -> u32 {
    u32::from_str_radix(pgid.strip_prefix("1.").unwrap(), 16).unwrap()
}

/// The entries that `--upmap-cleanup` changes, by group; without pairs where it removes them.
fn cleanup(commands: &str) -> BTreeMap<u32, Vec<(i32, i32)>> {
    let mut changed = BTreeMap::new();
    for line in commands.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let numbers: Vec<i32> = words[4..].iter().map(|word| word.parse().unwrap()).collect();
        assert!(["rm-pg-upmap-items", "pg-upmap-items"].contains(&words[2]), "{line}");
        changed.insert(group_of(words[3]), numbers.chunks(2).map(|pair| (pair[0], pair[1])).collect());
    }
    changed
}

/// The up sets and primaries that a run printed, by group.
fn sets_of(output: &str) -> BTreeMap<u32, (Vec<i32>, i32)> {
    let mut sets = BTreeMap::new();
    for line in output.lines().filter(|line| line.starts_with("1.")) {
        let (pgid, rest) = line.split_once(' ').unwrap();
        let up = &rest[rest.find("up ([").unwrap() + 5..];
        let (list, primary) = up.split_once("], p").unwrap();
        let primary = primary.split_once(')').unwrap().0.parse().unwrap();
        let set = list.split(',').filter(|word| !word.is_empty()).map(|word| word.parse().unwrap()).collect();
        sets.insert(group_of(pgid), (set, primary));
    }
    sets
}

/// Compares all sets with those of a run.
fn assert_sets(map: &OsdMap, output: &str, what: &str) {
    let mut ours = UpSets::default();
    map.up_sets(0, &mut ours);
    let theirs = sets_of(output);
    assert_eq!(theirs.len(), ours.groups() as usize, "{what}");
    for (group, (set, primary)) in theirs {
        assert_eq!((ours.set(group), ours.primary(group)), (&set[..], primary), "{what}: group {group}");
    }
}

/// Makes a change of ours, and the same of `osdmaptool`'s with a cleanup of entries, and compares.
fn assert_change(folder: &Folder, map: &OsdMap, change: &Change, arguments: &[&str]) -> usize {
    let what = format!("{arguments:?}");
    let entries = |map: &OsdMap| map.pools()[0].pool.exceptions.upmap_items.clone();
    let (mut map, before) = (map.clone(), entries(map));
    map.apply(change).unwrap();
    let after = entries(&map);
    let left = |group: &u32| after.get(group).cloned().unwrap_or_default();
    let cleaned: BTreeMap<u32, Vec<(i32, i32)>> = before
        .iter()
        .filter(|(group, pairs)| left(group) != **pairs)
        .map(|(&group, _)| (group, left(&group)))
        .collect();
    let command = [&["--mark-up-in"][..], arguments, &["--upmap-cleanup", "cleanup", "--test-map-pgs-dump-all"]];
    let output = folder.run(&command.concat());
    assert_eq!(cleaned, cleanup(&std::fs::read_to_string(folder.0.join("cleanup")).unwrap()), "{what}");
    assert_sets(&map, &output, &what);
    cleaned.len()
}

/// The changes to try on a cluster; how many entries they broke.
fn assert_changes(name: &str, mut input: ClusterInput) -> Option<usize> {
    input.pools = vec![replicated(1, OSDS as u32 * 8, 3)];
    let mut map = OsdMap::new(&input).unwrap();
    let folder = Folder::balanced(name, map.crush())?;
    let entries = folder.entries();
    for (&group, pairs) in &entries {
        map.apply(&Change::Upmap { pool: 1, group, pairs: pairs.clone() }).unwrap();
    }
    assert!(entries.len() > 20 && map.pools()[0].pool.exceptions.upmap_items == entries);
    assert_sets(&map, &folder.run(&["--mark-up-in", "--test-map-pgs-dump-all"]), "entries");
    let mut broken = 0;
    for case in 0..12u32 {
        let out = (7 * case + 3) % 36;
        broken += assert_change(&folder, &map, &Change::Out { osds: vec![out] }, &["--mark-out", &out.to_string()]);
        let (none, more) = (5 * case % 36, (11 * case + 1) % 36);
        for (osd, weight) in [(none, 0.0), (more, 3.5)] {
            let change = Change::CrushReweight { item: format!("osd.{osd}"), weight };
            broken += assert_change(&folder, &map, &change, &["--adjust-crush-weight", &format!("{osd}:{weight}")]);
        }
    }
    println!("{name}: {broken} entries were broken by changes");
    Some(broken)
}

// Rule: after an `out` and other CRUSH weights, the sets of 288 groups are osdmaptool's, and so are the entries that the change
// breaks; before it, no entry is broken. The second pool takes one class of devices, whose shadows the rule goes down.
#[test]
fn changes_are_osdmaptools() {
    let classes = of_classes(3, 4, 3, &[Some("hdd"), Some("hdd"), Some("ssd")]);
    for (name, input) in [("changes", cluster(3, 4, 3)), ("changes-of-a-class", classes)] {
        let Some(broken) = assert_changes(name, input) else { return };
        assert!(broken > 20, "only {broken} entries were broken");
    }
}

// Rule: entries that put two copies into one host are removed, on whichever side of a pair they are: a map whose hosts are others
// keeps only the entries that still serve.
#[test]
fn entries_under_another_map_are_osdmaptools() {
    let mut input = cluster(3, 4, 3);
    input.pools = vec![replicated(1, OSDS as u32 * 8, 3)];
    let mut map = OsdMap::new(&input).unwrap();
    let Some(folder) = Folder::balanced("another-map", map.crush()) else { return };
    for (group, pairs) in folder.entries() {
        map.apply(&Change::Upmap { pool: 1, group, pairs }).unwrap();
    }
    let mut broken = 0;
    for (one, other) in [(0, 11), (7, 22), (14, 30), (35, 3)] {
        // Two devices trade hosts, and a third leaves the tree.
        let crush = map.crush();
        let place = |device: i32| crush.item_name(crush.ancestor(device, "host").unwrap());
        let (first, second) = (place(one), place(other));
        let moved = crush.moved(&format!("osd.{one}"), &[("host", &second)]).unwrap();
        let moved = moved.moved(&format!("osd.{other}"), &[("host", &first)]).unwrap();
        let moved = moved.moved(&format!("osd.{}", one ^ 1), &[("host", "host.6")]).unwrap();
        std::fs::write(folder.0.join("moved"), moved.to_bytes().unwrap()).unwrap();
        let before = std::fs::read(folder.0.join("map")).unwrap();
        folder.run(&["--import-crush", "moved"]);
        broken += assert_change(&folder, &map, &Change::Crush { crushmap: moved.to_json() }, &[]);
        std::fs::write(folder.0.join("map"), before).unwrap();
    }
    println!("{broken} entries were broken by maps");
    assert!(broken > 4, "only {broken} entries were broken");
}

/// The map with a rule that spreads copies over racks in place of rule 0.
fn over_racks(map: &CrushMap) -> CrushMap {
    let mut dump: Value = serde_json::from_str(&map.to_json()).unwrap();
    let step = &mut dump["rules"][0]["steps"][1];
    assert_eq!(step["op"], "chooseleaf_firstn");
    step["type"] = "rack".into();
    CrushMap::from_json(&dump.to_string()).unwrap()
}

// Rule: a map that came to be by changes has the sets of one that osdmaptool makes as it is in the end: with more groups (576 on 288
// placements, and then on 576), with other numbers of copies, with another rule, and with new OSDs.
#[test]
fn sets_do_not_tell_how_a_map_came_to_be() {
    let mut input = cluster(3, 4, 3);
    let (pool, pools) = (0, vec![replicated(1, OSDS as u32 * 8, 3)]);
    // Rule 2 is for racks.
    let racks = over_racks(&CrushMap::from_json(&input.crushmap).unwrap());
    let mut dump: Value = serde_json::from_str(&input.crushmap).unwrap();
    let mut rule: Value = serde_json::from_str::<Value>(&racks.to_json()).unwrap()["rules"][0].take();
    (rule["rule_id"], rule["rule_name"]) = (2.into(), "racks".into());
    dump["rules"].as_array_mut().unwrap().push(rule);
    (input.crushmap, input.pools) = (dump.to_string(), pools);
    let whole = OsdMap::new(&input).unwrap();
    let compare = |name: &str, map: &OsdMap, crush: &CrushMap, osds: usize, options: &[&str]| {
        let Some(folder) = Folder::new(name, crush, osds, options) else { return };
        assert_sets(map, &folder.run(&["--mark-up-in", "--test-map-pgs-dump-all"]), name);
    };
    let mut map = whole.clone();
    map.act(&MapChange::Split { pool, pg_num: 576 });
    compare("split", &map, map.crush(), OSDS, &["--pg-bits", "4", "--pgp-bits", "3"]);
    map.act(&MapChange::PgpNum { pool, pgp_num: 576 });
    compare("placed", &map, map.crush(), OSDS, &["--pg-bits", "4", "--pgp-bits", "4"]);
    for size in [2, 5] {
        let mut map = whole.clone();
        map.apply(&Change::PoolSize { pool: 1, size, min_size: 1 }).unwrap();
        let option = format!("--osd_pool_default_size={size}");
        compare(&format!("size-{size}"), &map, map.crush(), OSDS, &["--pg-bits", "3", &option]);
    }
    let mut map = whole.clone();
    map.apply(&Change::SetRule { pool: 1, rule: 2 }).unwrap();
    compare("rule", &map, &racks, OSDS, &["--pg-bits", "3"]);
    let mut map = whole;
    let location =
        |id: u32| vec![("host".to_owned(), format!("new.{}", id % 4)), ("rack".to_owned(), "rack.2".to_owned())];
    let one = |id| Add {
        osd: osd(id, -1),
        name: format!("osd.{id}"),
        weight: 1.5,
        class: "ssd".into(),
        location: location(id),
    };
    map.apply(&Change::Add { osds: (36..48).map(one).collect() }).unwrap();
    // The tool gives each of 48 OSDs eight groups.
    map.act(&MapChange::Split { pool, pg_num: 384 });
    map.act(&MapChange::PgpNum { pool, pgp_num: 384 });
    compare("more-osds", &map, map.crush(), 48, &["--pg-bits", "3"]);
}
